import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OptionInvalid } from "../src/errors.ts";
import {
  compileGate,
  compilePattern,
  compileSequence,
  matchesEvent,
  matchesWildcard,
  matchTrace,
  type PatternValue,
} from "../src/pattern.ts";

describe("wildcards", () => {
  test.each([
    ["abc", "abc", true],
    ["abc", "abcd", false],
    ["*", "", true],
    ["a*c", "abbbc", true],
    ["a*c", "ac", true],
    ["a*a", "a", false],
    ["*/send", "https://x.test/v1/send", true],
    ["*a*b*", "xxbxxa", false],
    ["a.c", "abc", false],
  ])("%s against %s", (pattern, text, expected) => expect(matchesWildcard(pattern, text)).toBe(expected));

  test("agrees with the regular expression that it stands for, over arbitrary texts", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 12 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 12 });
    fc.assert(
      fc.property(letters, text, (pattern, subject) => {
        const source = pattern
          .split("*")
          .map((piece) => piece.replaceAll(".", "\\."))
          .join("[^]*");
        expect(matchesWildcard(pattern, subject)).toBe(new RegExp(`^${source}$`).test(subject));
      }),
    );
  });

  test("is not slow on what makes regular expressions slow", () => {
    expect(matchesWildcard(`${"*a".repeat(30)}b`, "a".repeat(50_000))).toBe(false);
  });
});

describe("events", () => {
  const event = { kind: "request", method: "POST", url: "https://x.test/send", n: 3 };

  test("a partial object: every key must be there and agree", () => {
    expect(matchesEvent({ kind: "request", url: "*/send" }, event)).toBe(true);
    expect(matchesEvent({ kind: "request", status: 200 }, event)).toBe(false);
    expect(matchesEvent({ n: 3 }, event)).toBe(true);
    expect(matchesEvent({ n: "3" }, event)).toBe(false);
    expect(matchesEvent({ method: ["PUT", "POST"] }, event)).toBe(true);
    expect(matchesEvent({}, event)).toBe(true);
    expect(matchesEvent({ toString: "x" }, event)).toBe(false);
  });

  test("patterns are an ordered subsequence of the trace", () => {
    const trace = [{ kind: "request" }, { kind: "response" }, { kind: "frame" }, { kind: "frame" }, { kind: "close" }];
    expect(matchTrace(trace, [{ kind: "request" }, { kind: "frame" }, { kind: "frame" }])).toEqual({
      matched: true,
      at: [0, 2, 3],
    });
    expect(matchTrace(trace, [{ kind: "frame" }, { kind: "request" }])).toEqual({
      matched: false,
      at: [2],
      missing: { kind: "request" },
    });
    expect(matchTrace(trace, [])).toEqual({ matched: true, at: [] });
    expect(() => matchTrace(trace, [null as never])).toThrow(/A pattern is an object/);
  });
});

describe("the full language", () => {
  const matches = (pattern: PatternValue, value: unknown): boolean => compilePattern(pattern).matches(value);
  const at = (patterns: PatternValue[], values: unknown[]): readonly number[] | undefined => {
    const found = compileSequence(patterns).match(values);
    return found.matched ? found.at : undefined;
  };

  test("strings are expressions, unanchored; other leaves are equal; objects are partial, at any depth", () => {
    expect(matches("gpt-4", "my gpt-4o")).toBe(true);
    expect(matches("^gpt-4$", "gpt-4o")).toBe(false);
    expect(matches("1", 1)).toBe(false);
    expect(
      matches({ a: { b: "x+" }, n: 1, t: true, z: null }, { a: { b: "axx", c: 1 }, n: 1, t: true, z: null, more: 1 }),
    ).toBe(true);
    expect(matches({ a: { b: "x" } }, { a: null })).toBe(false);
    expect(matches({ toString: "x" }, {})).toBe(false);
    expect(matches({ __proto__: null } as never, {})).toBe(true);
    expect(matches(JSON.parse('{"__proto__":"x"}'), {})).toBe(false);
  });

  test("lists are ordered subsequences; an empty one matches any", () => {
    expect(matches([], [1, 2])).toBe(true);
    expect(matches([1, 3], [1, 2, 3])).toBe(true);
    expect(matches([3, 1], [1, 2, 3])).toBe(false);
    expect(matches([{ role: "user" }], [{ role: "system" }, { role: "user", content: "hi" }])).toBe(true);
    expect(matches([1], { 0: 1 })).toBe(false);
  });

  test("$any, $skip, $while and $until take what they say", () => {
    expect(at([{ $any: true }, 2], [1, 2])).toEqual([0, 1]);
    expect(at([{ $any: true }], [])).toBeUndefined();
    expect(at([{ $skip: 2 }, 1], [1, 1, 1])).toEqual([1, 2]);
    expect(at([{ $skip: 2 }, 1], [1, 1])).toBeUndefined();
    expect(at([{ $while: "a" }, { $any: true }], ["a", "aa", "b", "a"])).toEqual([1, 2]);
    expect(at([{ $while: "a" }, "b"], ["b"])).toEqual([-1, 0]);
    expect(at([{ $until: "c" }, { $any: true }], ["a", "b", "c", "d"])).toEqual([2, 3]);
    expect(at([{ $until: "c" }], ["a"])).toBeUndefined();
  });

  test("a gate is what is inside, and nothing is counted", () => {
    expect(compileGate({ $until: { kind: "call", op: "chat" } }).matches({ kind: "call", op: "chat", x: 1 })).toBe(
      true,
    );
    expect(compileGate({ $while: { kind: "call" } }).matches({ kind: "inbound" })).toBe(false);
    expect(compileGate({ $any: true }).matches({ kind: "inbound" })).toBe(true);
    expect(() => compileGate({ $skip: 2 })).toThrow(/no list/);
  });

  test("what is wrong is told when it is read: all at once, with the pattern and the place", () => {
    const wrong = { a: "(", b: [{ $skip: -1 }, { $whlie: 1 }], c: { $any: true }, d: "[z-a]" } as never;
    expect(() => compilePattern(wrong, "after")).toThrow(OptionInvalid);
    expect(() => compilePattern(wrong, "after")).toThrow(
      /^after \{"a":"\(".*at \/a: "\(" is no regular expression.*at \/b\/0: "\$skip" is -1.*there is no "\$whlie".*at \/c: "\$any" is an element of a list.*at \/d/,
    );
    expect(() => matchTrace([], [{ kind: "*" }])).toThrow(/no regular expression/);
  });

  test("what is taken earliest is never wrong: a search over all ways finds no other answer", () => {
    const element = fc.oneof(
      fc.constantFrom<PatternValue>("a", "b", "", { $any: true }, { $skip: 1 }, { $while: "a" }, { $until: "b" }),
    );
    const search = (patterns: readonly PatternValue[], values: readonly string[], from = 0): boolean => {
      const [pattern, ...rest] = patterns;
      if (pattern === undefined) return true;
      if (typeof pattern === "object") {
        const { $any, $skip, $while, $until } = pattern as Record<string, unknown>;
        if ($any !== undefined || $skip !== undefined) return from < values.length && search(rest, values, from + 1);
        if ($while !== undefined) {
          let next = from;
          while (values[next] === "a") next++;
          return search(rest, values, next);
        }
        return search([$until as string, ...rest], values, from);
      }
      return values.some(
        (value, i) => i >= from && (pattern === "" || value === pattern) && search(rest, values, i + 1),
      );
    };
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 5 }),
        fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 7 }),
        (patterns, values) => {
          expect(compileSequence(patterns).match(values).matched).toBe(search(patterns, values));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
