import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorToStored, storedToError, tagValue, untagValue } from "../../src/cassette/values.ts";
import { OptionInvalid } from "../../src/errors.ts";
import type { Json } from "../../src/wire/json.ts";

const again = (value: unknown): unknown => untagValue(JSON.parse(JSON.stringify(tagValue(value))));

describe("tagValue and untagValue", () => {
  it.each<[string, unknown, Json]>([
    ["bytes", new Uint8Array([1, 2, 255]), { $bytes: "AQL/" }],
    ["a date", new Date(0), { $date: "1970-01-01T00:00:00.000Z" }],
    ["a date that is none", new Date(Number.NaN), { $date: "Invalid Date" }],
    ["a URL", new URL("https://a/b?c=1"), { $url: "https://a/b?c=1" }],
    ["a bigint", -12345678901234567890n, { $bigint: "-12345678901234567890" }],
    ["undefined", undefined, { $undefined: true }],
    ["minus zero", -0, { $number: "-0" }],
    ["NaN", Number.NaN, { $number: "NaN" }],
    ["infinities", [1 / 0, -1 / 0], [{ $number: "Infinity" }, { $number: "-Infinity" }]],
    ["a map", new Map<unknown, unknown>([[{ a: 1 }, undefined]]), { $map: [[{ a: 1 }, { $undefined: true }]] }],
    ["a set", new Set([1, "a"]), { $set: [1, "a"] }],
    [
      "a real object with such a key",
      { $date: 1, b: new Date(0) },
      { $literal: { $date: 1, b: { $date: "1970-01-01T00:00:00.000Z" } } },
    ],
    ["a literal of a literal", { $literal: {} }, { $literal: { $literal: {} } }],
    ["keys of no meaning", { $other: 1, toString: 2 }, { $other: 1, toString: 2 }],
    ["plain data", { a: [1, "x", null, true, { b: 0.1 }] }, { a: [1, "x", null, true, { b: 0.1 }] }],
    ["holes", Array(1), [{ $undefined: true }]],
  ])("keep %s", (_, value, stored) => {
    expect(tagValue(value)).toEqual(stored);
    expect(again(value)).toStrictEqual(_ === "holes" ? [undefined] : value);
  });

  it("keep everything that is made of these", () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.constantFrom(null, undefined),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array({ maxLength: 5 }),
    );
    const key = fc.oneof(fc.string(), fc.constantFrom("$date", "$literal", "$number", "__proto__", "$set"));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
        fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
        fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
      ),
    }));
    fc.assert(
      fc.property(value, (it) => {
        expect(again(it)).toStrictEqual(it);
      }),
      { numRuns: 1000 },
    );
  });

  it("give fresh values every time, also of what is shared", () => {
    const shared = { a: new Date(0) };
    const stored = tagValue([shared, shared]);
    const [a, b] = untagValue(stored) as [typeof shared, typeof shared];
    a.a.setTime(5);
    expect(b.a.getTime()).toBe(0);
    expect((untagValue(stored) as [typeof shared])[0].a.getTime()).toBe(0);
  });

  it("keep values of another realm", () => {
    expect(
      tagValue(vm.runInNewContext("({ a: [new Date(0), new Map([[1, new Set()]]), new TypeError('x')] })")),
    ).toEqual({
      a: [
        { $date: "1970-01-01T00:00:00.000Z" },
        { $map: [[1, { $set: [] }]] },
        { $error: { name: "TypeError", message: "x" } },
      ],
    });
  });

  class Money {}
  const loop: { self?: unknown } = {};
  loop.self = [loop];
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

  it.each<[string, unknown, string]>([
    [
      "a function",
      { result: { items: [0, { onClick: Math.max }] } },
      "The value at $.result.items[1].onClick cannot be recorded: it is a function (max)",
    ],
    ["a symbol", [Symbol("x")], "The value at $[0] cannot be recorded: it is a symbol"],
    [
      "an instance of a class",
      { "a-b": new Money() },
      'The value at $["a-b"] cannot be recorded: it is an instance of Money',
    ],
    ["a promise", Promise.resolve(1), "The value at $ cannot be recorded: it is an instance of Promise"],
    ["a cycle", loop, "The value at $.self[0] cannot be recorded: it is an object that holds itself"],
    ["in a map", new Map([["k", () => 1]]), "The value at $<value 0> cannot be recorded: it is a function"],
    [
      "a key that is a symbol",
      { [Symbol("k")]: 1 },
      "The value at $ cannot be recorded: it has a key that is a symbol",
    ],
    ["hostile depth", deep(301), "it is nested deeper than 300 levels"],
  ])("refuse %s by its path", (_, value, message) => {
    expect(() => tagValue(value)).toThrow(OptionInvalid);
    expect(() => tagValue(value)).toThrow(message);
  });

  it.each<[Json]>([
    [{ $date: 5 }],
    [{ $date: "soon" }],
    [{ $bytes: "a" }],
    [{ $url: "nowhere" }],
    [{ $bigint: "1.5" }],
    [{ $undefined: false }],
    [{ $number: "1 2" }],
    [{ $map: [[1]] }],
    [{ $set: {} }],
    [{ $error: { name: "x" } }],
    [{ $literal: 1 }],
    [{ $date: "1970-01-01T00:00:00.000Z", b: 1 }],
  ])("refuse %j, which no value is written as", (value) => {
    expect(() => untagValue([value])).toThrow(/is a tag and has to stand alone.*"\$literal"/);
  });
});

describe("errors", () => {
  it("come back as the platform's classes, with code and causes", () => {
    const cause = Object.assign(new Error("other side closed"), { name: "SocketError", code: "UND_ERR_SOCKET" });
    const error = new TypeError("terminated", { cause });
    const stored = errorToStored(error);
    expect(stored).toEqual({
      name: "TypeError",
      message: "terminated",
      cause: { name: "SocketError", message: "other side closed", code: "UND_ERR_SOCKET" },
    });
    const back = storedToError(stored);
    expect(back).toBeInstanceOf(TypeError);
    expect(back.cause).toMatchObject({ name: "SocketError", code: "UND_ERR_SOCKET" });
    expect(errorToStored(back)).toEqual(stored);
    expect(again(error)).toBeInstanceOf(TypeError);
  });

  it.each(["AbortError", "TimeoutError"])("%s is a DOMException", (name) => {
    const back = storedToError(errorToStored(new DOMException("stop", name)));
    expect(back).toBeInstanceOf(DOMException);
    expect([back.name, back.message]).toEqual([name, "stop"]);
    expect(errorToStored(back)).toEqual({ name, message: "stop" });
  });

  it("Node's own AbortError is not", () => {
    const back = storedToError({ name: "AbortError", message: "stop", code: "ABORT_ERR" });
    expect(back).not.toBeInstanceOf(DOMException);
    expect(back).toMatchObject({ name: "AbortError", code: "ABORT_ERR" });
  });

  it("AggregateError stays one", () => {
    expect(storedToError({ name: "AggregateError", message: "", code: "ECONNREFUSED" })).toBeInstanceOf(AggregateError);
  });

  it("a cause that leads back is cut", () => {
    const a = new Error("a");
    a.cause = new Error("b", { cause: a });
    expect(errorToStored(a)).toEqual({ name: "Error", message: "a", cause: { name: "Error", message: "b" } });
  });

  it.each([
    ["boom", "boom"],
    [undefined, "undefined"],
    [{ status: 1 }, '{"status":1}'],
    [{ name: "E", message: "m" }, "m"],
    [Symbol("s"), "Symbol(s)"],
    [{ big: 1n }, "[object Object]"],
  ])("what is thrown and is no error says what it was: %s", (thrown, message) => {
    expect(errorToStored(thrown).message).toBe(message);
  });
});
