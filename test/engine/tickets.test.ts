import { expect, test } from "vitest";
import { TicketLine } from "../../src/engine/tickets.ts";

test("the first in line claims at once, later ones in their order", async () => {
  const line = new TicketLine();
  const claimed: string[] = [];
  const claim = (name: string) => () => {
    claimed.push(name);
    return name;
  };
  const [a, b, c, d] = [line.take(), line.take(), line.take(), line.take()];
  const second = b.use(claim("b"));
  const fourth = d.use(() => {
    throw new Error("d");
  });
  expect(second).toBeInstanceOf(Promise);
  expect(claimed).toEqual([]);
  expect(a.use(claim("a"))).toBe("a");
  expect(claimed).toEqual(["a", "b"]);
  c.drop();
  await expect(fourth).rejects.toThrow("d");
  expect(await second).toBe("b");
  expect(line.take().use(claim("e"))).toBe("e");
});

test("a claim that throws does not hold the line", () => {
  const line = new TicketLine();
  const [a, b] = [line.take(), line.take()];
  expect(() =>
    a.use(() => {
      throw new Error("a");
    }),
  ).toThrow("a");
  expect(b.use(() => 1)).toBe(1);
});

test("a long life does not make a long line", () => {
  const line = new TicketLine();
  for (let i = 0; i < 10_000; i++) expect(line.take().use(() => i)).toBe(i);
});
