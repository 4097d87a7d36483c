import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesEvent, matchesWildcard, matchTrace } from "../src/pattern.ts";

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
    expect(matchesWildcard("*a".repeat(30) + "b", "a".repeat(50_000))).toBe(false);
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
