import { describe, expect, test } from "vitest";
import { FakeCompactor } from "../../src/doubles/fake-compactor.ts";
import { FakeFetch } from "../../src/doubles/fake-fetch.ts";
import { FakeGrounder } from "../../src/doubles/fake-grounder.ts";
import { FakeMemory } from "../../src/doubles/fake-memory.ts";
import { FakeSearch } from "../../src/doubles/fake-search.ts";
import { FakeTool } from "../../src/doubles/fake-tool.ts";

describe("FakeFetch", () => {
  const page = { status: 200, body: "hello" };

  test("answers a known URL, with a copy", async () => {
    const web = new FakeFetch({ "https://a.test/": page });
    const got = await web.fetch("https://a.test/");
    expect(got).toEqual(page);
    expect(got).not.toBe(page);
    expect(web.calls).toEqual(["https://a.test/"]);
  });

  test("throws with an unknown URL, and keeps it", async () => {
    const web = new FakeFetch({ "https://a.test/page": page });
    await expect(web.fetch("https://a.test/pages")).rejects.toThrow(
      /https:\/\/a.test\/pages; did you mean "https:\/\/a.test\/page"/,
    );
    await expect(new FakeFetch({}).fetch("toString").catch((error) => error.message)).resolves.toMatch(
      /toString: it has none at all/,
    );
    expect(web.violations).toHaveLength(1);
    web.expectViolation("unrecorded-request");
  });
});

describe("FakeFetch as a fetch", () => {
  test("may be given away, and answers a Response with a clone, every time", async () => {
    const { fetch } = new FakeFetch({ "https://a.test/": new Response("hello", { status: 201 }) });
    const given = fetch as typeof globalThis.fetch;
    for (const input of ["https://a.test/", new URL("https://a.test"), new Request("https://a.test/")]) {
      const response = await given(input, { method: "POST" });
      expect([response.status, await response.text()]).toEqual([201, "hello"]);
    }
  });

  test("keeps its answers, whoever changes what was given or got", async () => {
    const page = { status: 200, body: "hello", headers: { a: "b" } };
    const web = new FakeFetch({ "https://a.test/": page });
    page.body = "changed";
    Object.assign((await web.fetch("https://a.test/")).headers, { a: "changed" });
    expect(await web.fetch("https://a.test/")).toEqual({ status: 200, body: "hello", headers: { a: "b" } });
  });

  test("tells an unknown URL without its secrets", async () => {
    const web = new FakeFetch({});
    const error = await web.fetch("https://a.test/x?api_key=aVerySecretValue42&q=1").catch((thrown: Error) => thrown);
    web.expectViolation("unrecorded-request");
    expect(String(error)).toContain("https://a.test/x?api_key=");
    expect(JSON.stringify([String(error), error])).not.toContain("aVerySecretValue42");
  });

  test("needs its answers", () => {
    expect(() => new FakeFetch(undefined as never)).toThrow(/takes answers by URL/);
  });
});

describe("FakeSearch", () => {
  const hits = [{ title: "a" }, { title: "b" }];

  test("a list answers every query; a dictionary by what the query contains; an unknown one finds nothing", async () => {
    const list = new FakeSearch(hits);
    expect(await list.search("anything")).toEqual(hits);
    expect(await list.search("one", 1)).toEqual([{ title: "a" }]);
    const dictionary = new FakeSearch({ train: [{ title: "t" }], night: [{ title: "n" }] });
    expect(await dictionary.search("night train")).toEqual([{ title: "t" }]);
    expect(await dictionary.search("bus")).toEqual([]);
    expect(dictionary.queries).toEqual(["night train", "bus"]);
    Object.assign((await list.search("x"))[0] as object, { title: "changed" });
    expect(await list.search("x")).toEqual([{ title: "a" }, { title: "b" }]);
    expect(() => new FakeSearch(null as never)).toThrow(/takes a dictionary; got null/);
    expect(() => new FakeSearch({ a: { title: "x" } } as never)).toThrow(/the answer to "a" is no list of hits/);
  });
});

describe("FakeMemory", () => {
  const item = (content: string) => ({ content, source: "src" });

  test("finds per query, else its default, else nothing", async () => {
    const memory = new FakeMemory({ responses: { q: [item("a"), item("b")] } });
    expect(memory.name).toBe("fake_memory");
    expect(await memory.query("q", 1)).toEqual([item("a")]);
    expect(await memory.query("other", 3)).toEqual([]);
    const fallback = new FakeMemory({ name: "m", responses: {}, default: [item("d")] });
    expect([fallback.name, await fallback.query("x", 3)]).toEqual(["m", [item("d")]]);
  });

  test("items are found by every query, the first k; queries and writes are kept", async () => {
    const memory = new FakeMemory({ items: [item("a"), item("b"), item("c")] });
    expect(await memory.query("foo", 2)).toEqual([item("a"), item("b")]);
    await memory.query("bar", 3, { tag: 1 });
    await memory.write([item("w")]);
    class Item {
      content = "of a class";
    }
    const [own] = await new FakeMemory({ items: [new Item()] }).query("x");
    expect(own).toBeInstanceOf(Item);
    expect(memory.queries).toEqual([
      ["foo", 2, null],
      ["bar", 3, { tag: 1 }],
    ]);
    expect(memory.writes).toEqual([[item("w")]]);
    expect(() => new FakeMemory({ itmes: [] } as never)).toThrow(/did you mean "items"/);
  });
});

describe("FakeTool", () => {
  test("gives a value as it is, or what a function gives, and keeps copies of its arguments", async () => {
    const value = { deep: [1] };
    const tool = new FakeTool({ responder: value });
    const args = { x: 1 };
    expect(await tool.run(args, { any: "context" })).toBe(value);
    await tool.run({ deep: { with: () => 1 } });
    expect(tool.calls.pop()).toEqual({ deep: { with: expect.any(Function) } });
    args.x = 2;
    await tool.run(args);
    expect(tool.calls).toEqual([{ x: 1 }, { x: 2 }]);
    expect(await new FakeTool({ responder: ({ x }: { x: number }) => x + 1 }).run({ x: 1 })).toBe(2);
    expect(await new FakeTool({ responder: async () => "later" }).run({})).toBe("later");
    const failing = new FakeTool({
      responder: () => {
        throw new RangeError("no");
      },
    });
    await expect(failing.run({})).rejects.toThrow(RangeError);
    expect(failing.calls).toHaveLength(1);
  });

  test("has the page's defaults", () => {
    const { calls: _, ...facts } = new FakeTool();
    expect(facts).toEqual({
      name: "fake_tool",
      description: "fake tool for unit tests",
      schema: { type: "object" },
      outputSchema: undefined,
      sideEffecting: false,
      requiresApproval: false,
    });
    expect(new FakeTool({ sideEffecting: true, outputSchema: { type: "string" } })).toMatchObject({
      sideEffecting: true,
      outputSchema: { type: "string" },
    });
    expect(() => new FakeTool({ nme: "x" } as never)).toThrow(/did you mean "name"/);
  });
});

test("FakeCompactor replaces a transcript with its sentinel, and says that it ran", async () => {
  const compactor = new FakeCompactor();
  expect(compactor.called).toBe(false);
  expect(await compactor.compact([{ role: "user", content: "long" }])).toEqual([
    { role: "system", content: "[COMPACTED]" },
  ]);
  expect(compactor.called).toBe(true);
  expect((await new FakeCompactor({ sentinel: "…" }).compact([])).map(({ content }) => content)).toEqual(["…"]);
});

test("FakeGrounder gives its block and keeps what it was asked", async () => {
  const grounder = new FakeGrounder({ block: "facts" });
  const ctx = {};
  const { ground } = grounder;
  expect(await ground(ctx, "task")).toBe("facts");
  expect(grounder.calls).toEqual([[ctx, "task"]]);
  expect(await new FakeGrounder().ground(ctx, "task")).toBe("");
});
