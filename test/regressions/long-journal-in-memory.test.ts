import { expect, test } from "vitest";
import { memoryStore } from "wiretape";

test("a line of a journal in memory costs the same however long the journal is", async () => {
  const journal = await memoryStore().journal("long.cassette.json");
  const line = "x".repeat(1000);
  // What writes all lines anew with each is at 18 GB here.
  const began = performance.now();
  for (let i = 0; i < 6000; i++) journal.append(line);
  expect(performance.now() - began).toBeLessThan(2000);
  journal.rewrite(["1"]);
  await journal.close();
  expect(() => journal.append("2")).toThrow(TypeError);
  expect(() => journal.rewrite([])).toThrow(TypeError);
});
