import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLiterals } from "../../../src/cassette/redact/literals.ts";
import { mergeSpans, replaceInChunks, replaceSpans, type Span } from "../../../src/cassette/redact/spans.ts";
import { viewsOf } from "../../../src/cassette/redact/views.ts";
import { decodeLatin1, encodeLatin1 } from "../../../src/wire/bytes.ts";

const span = (start: number, end: number, replacement = "X"): Span => ({ start, end, replacement, rule: "r" });

describe("spans", () => {
  it("the longest of those that begin together wins, a part of another is dropped, an overlap is covered", () => {
    expect(mergeSpans([span(3, 5, "B"), span(0, 4, "A"), span(1, 2, "C"), span(7, 8, "D"), span(7, 9, "E")])).toEqual([
      span(0, 5, "A"),
      span(7, 9, "E"),
    ]);
  });

  it("chunks keep their number and order, and say the replaced text", () => {
    const ranges = fc.array(
      fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 10 }), fc.string({ unit: "binary-ascii", maxLength: 12 })),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary-ascii", maxLength: 12 }), { minLength: 1, maxLength: 8 }),
        ranges,
        (texts, marks) => {
          const whole = texts.join("");
          const spans = mergeSpans(
            marks
              .filter(([start, size]) => start + size <= whole.length)
              .map(([start, size, by]) => span(start, start + size, by)),
          );
          const chunks = texts.map((text, at) => ({ at, bytes: encodeLatin1(text) }));
          const replaced = replaceInChunks(chunks, whole, spans);
          expect(replaced.map(({ at }) => at)).toEqual(chunks.map(({ at }) => at));
          expect(replaced.map(({ bytes }) => decodeLatin1(bytes)).join("")).toBe(replaceSpans(whole, spans));
          if (spans.length === 0) expect(replaced).toBe(chunks);
          // A boundary outside of all spans cuts the replaced text where it cut the text.
          let offset = 0;
          let moved = 0;
          for (const [i, text] of texts.entries()) {
            offset += text.length;
            moved += replaced[i]!.bytes.length;
            if (spans.some(({ start, end }) => start < offset && offset < end)) continue;
            const before = spans.filter(({ end }) => end <= offset);
            expect(moved).toBe(replaceSpans(whole.slice(0, offset), before).length);
          }
        },
      ),
    );
  });
});

describe("literals", () => {
  it("finds what a plain search finds, however many are added and when", () => {
    const unit = fc.constantFrom(..."abAB_-");
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit, minLength: 2, maxLength: 6 }), { maxLength: 8 }),
        fc.string({ unit, maxLength: 60 }),
        fc.boolean(),
        (words, text, ignoreCase) => {
          const literals = createLiterals<string>({ ignoreCase });
          const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value);
          const expected: string[] = [];
          for (const word of words) {
            literals.add(word, word);
            for (let at = 0; at < text.length; at++)
              if (fold(text).startsWith(fold(word), at)) expected.push(`${at} ${word}`);
          }
          const found: string[] = [];
          literals.each(text, (word, start, end) => {
            expect(end - start).toBe(word.length);
            found.push(`${start} ${word}`);
          });
          expect(found.sort()).toEqual(expected.sort());
        },
      ),
    );
  });
});

describe("views", () => {
  it("take JSON escapes and percent-encoding off, and know the way back", () => {
    const text = 'a\\"b\\u00e9%2Fc\\\\"d%zz\\q';
    const [plain, json, percent] = viewsOf(text);
    expect(plain!.text).toBe(text);
    expect(json!.text).toBe('a"b\u00c3\u00a9%2Fc\\"d%zz\\q');
    expect(percent!.text).toBe('a\\"b\\u00e9/c\\\\"d%zz\\q');
    expect(text.slice(json!.origin(1), json!.origin(2))).toBe('\\"');
    expect(text.slice(json!.origin(3), json!.origin(5))).toBe("\\u00e9");
    expect(text.slice(json!.origin(9))).toBe('\\\\"d%zz\\q');
    expect(text.slice(percent!.origin(12), percent!.origin(13))).toBe("\\");
    const both = viewsOf(text).find((view) => view.text.startsWith('a"') && view.text.includes("/c"))!;
    expect(text.slice(both.origin(5), both.origin(6))).toBe("%2F");
  });
});
