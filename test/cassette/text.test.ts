import fc from "fast-check";
import { expect, test } from "vitest";
import { readCarefully } from "../../src/cassette/careful.ts";
import { limitsOf } from "../../src/cassette/limits.ts";
import { openCassette } from "../../src/cassette/open.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { formatSealed } from "../../src/cassette/seal.ts";
import { readSealedText } from "../../src/cassette/sealed-text.ts";
import { cassettes } from "./arbitrary-cassette.ts";

const careful = (text: string): Cassette => {
  const { cassette, issues } = readCarefully(text, limitsOf({}));
  expect(issues).toEqual([]);
  return cassette!;
};

test("a printed cassette parses to itself, and prints to the same text again", () => {
  fc.assert(
    fc.property(cassettes, (cassette) => {
      const text = formatCassette(cassette);
      const parsed = parseCassette(text);
      expect(parsed).toEqual(cassette);
      expect(formatCassette(parsed)).toBe(text);
      expect(JSON.parse(text)).toEqual(cassette);
    }),
    { numRuns: 300 },
  );
});

test("a sealed text reads the same on the fast path and on the careful one, parsed or opened", () => {
  fc.assert(
    fc.property(cassettes, (cassette) => {
      const text = formatSealed(cassette);
      expect(readSealedText(text), "the fast path").toBeDefined();
      const fast = parseCassette(text);
      expect(fast).toEqual(careful(text));
      expect(formatCassette(fast)).toBe(text);
      const { seal, ...unsealed } = fast;
      expect(seal).toBeDefined();
      expect(unsealed).toEqual(cassette);

      const opened = openCassette(new TextEncoder().encode(text));
      expect(opened.canonical).toBe(true);
      expect(opened.cassette()).toEqual(fast);
      const slow = openCassette(`${text}\n`);
      expect(slow.canonical).toBe(false);
      for (const index of [opened, slow]) {
        expect(index.size).toBe(fast.tracks.length);
        let time = 0;
        fast.tracks.forEach((track, i) => {
          time = track.at ?? time; // left out: that of the track before
          expect([index.id(i), index.kind(i), index.lane(i), index.at(i)]).toEqual([
            track.id,
            track.kind,
            track.lane,
            time,
          ]);
          expect(index.method(i)).toBe(track.kind === "http" ? track.request.method : undefined);
          const url =
            track.kind === "http" ? track.request.url : track.kind === "websocket" ? track.open.url : undefined;
          expect(index.url(i)).toBe(url);
          expect(index.name(i)).toBe(
            "call" in track ? track.call.name : track.kind === "process" ? track.open.command : undefined,
          );
          expect(index.indexOf(track.id)).toBe(i);
          expect(text.split("\n").slice(index.line(i) - 1, index.line(i))).toEqual(["    {"]);
          expect(index.track(i)).toEqual(track);
          expect(index.track(i)).toBe(index.track(i));
        });
      }
    }),
    { numRuns: 300 },
  );
});

test("what is read is frozen all the way down", () => {
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  fc.assert(
    fc.property(cassettes, (cassette) => {
      expect(frozen(parseCassette(formatCassette(cassette)))).toBe(true);
      const index = openCassette(formatSealed(cassette));
      expect([frozen(index.cassette()), frozen(index.head), frozen(index.seal)]).toEqual([true, true, true]);
      expect(Object.isFrozen(cassette)).toBe(false);
    }),
    { numRuns: 50 },
  );
});
