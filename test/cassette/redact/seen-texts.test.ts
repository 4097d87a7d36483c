import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSeenTexts } from "../../../src/cassette/redact/seen-texts.ts";

/** A text that no other is like, of hexadecimal digits. */
function hexadecimal(seed: number, length: number): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += (state >>> 8).toString(16).padStart(6, "0");
  }
  return text.slice(0, length);
}

describe("texts that were seen", () => {
  it("names every holder of a value, wherever it stands in the text and however long the text is", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom(..."ab0\xff ") }),
        fc.string({ maxLength: 30 }),
        fc.string({ maxLength: 30 }),
        fc.constantFrom(0, 0, 300_000),
        (value, before, after, padding) => {
          const seen = createSeenTexts();
          seen.add("something else", "other");
          seen.add(before + ".".repeat(padding) + value + after, "holder");
          seen.add("", "empty");
          expect(seen.holdersOf(["never in any of these", value])).toContain("holder");
        },
      ),
      { numRuns: 200 },
    );
  });

  it("names few others: of a megabyte, and of thousands of values that are in none of it", () => {
    const seen = createSeenTexts();
    for (let i = 1; i <= 500; i++) seen.add(hexadecimal(i, 2048), `t${i}`);
    const misses = Array.from({ length: 2000 }, (_, i) => hexadecimal(1_000_000 + i, 24));
    expect(misses.filter((value) => seen.holdersOf([value]).size > 0)).toEqual([]);
    const [inFirst, inLast] = [hexadecimal(1, 2048).slice(100, 124), hexadecimal(500, 2048).slice(-24)];
    expect(seen.holdersOf([inFirst])).toContain("t1");
    expect(seen.holdersOf([inFirst])).not.toContain("t500");
    expect(seen.holdersOf([inFirst, inLast])).toContain("t500");
  });
});
