import fc from "fast-check";
import { expect, test } from "vitest";
import { appendTracks, editText, sealText } from "../../src/cassette/edit.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette, Json, Track } from "../../src/cassette/schema.ts";
import { formatSealed, headDigest, trackStates } from "../../src/cassette/seal.ts";
import { readSealedText } from "../../src/cassette/sealed-text.ts";
import { CassetteInvalid, OptionInvalid } from "../../src/errors.ts";
import { cassettes } from "./arbitrary-cassette.ts";

const commented = `// by hand
{
    "wiretape": 1, // the version
    "tracks": [
        // the first
        { "id": "t1", "kind": "function", "call": { "name": "f" }, "result": { "value": 1.0 } }, // here
        { "id": "t2", "kind": "http", /* inside */
          "request": { "method": "GET", "url": "/", "headers": [["a", "b"], ["c", "d"]] },
          "fault": { "name": "E", "message": "m" }, }
    ],
}
`;
const call = (id: string): Track => ({ id, kind: "function", call: { name: "g" }, result: { value: 2 } });
const states = (text: string): string[] => [...trackStates(parseCassette(text)).values()];

test("sealing keeps comments and layout, and stamps what stands there", () => {
  const sealed = sealText(commented);
  expect(sealed.startsWith(commented.slice(0, commented.lastIndexOf("],")))).toBe(true);
  expect(states(sealed)).toEqual(["recorded", "recorded"]);
  const edited = sealed.replace('"value": 1.0', '"value": 1.5');
  expect(states(edited)).toEqual(["edited", "recorded"]);
  expect(states(sealText(edited))).toEqual(["recorded", "recorded"]);
  expect(sealText(edited)).toContain("// the first");
  expect(parseCassette(sealed).seal?.crc32).toBeUndefined();
  expect(sealText(sealed)).toBe(sealed);
});

test("a canonical text stays canonical and gets its checksum", () => {
  fc.assert(
    fc.property(cassettes, (cassette) => {
      const sealed = sealText(formatCassette(cassette));
      expect(sealed).toBe(formatSealed(cassette));
      expect(readSealedText(sealed)).toBeDefined();
    }),
    { numRuns: 50 },
  );
});

test("a text with faults is refused, and so is an edit that makes one", () => {
  const broken = commented.replace('"value": 1.0', '"valu": 1.0');
  for (const act of [() => sealText(broken), () => appendTracks(broken, []), () => editText(broken, [])])
    expect(act).toThrow(CassetteInvalid);
  expect(() => editText(commented, [{ path: ["tracks", 0, "kind"], value: "http" }])).toThrow(CassetteInvalid);
  expect(() => appendTracks(commented, [call("t1")])).toThrow(/duplicate track id "t1"/);
  expect(() => editText(commented, [{ path: ["tracks", 9, "at"], value: 1 }])).toThrow(OptionInvalid);
  expect(() => editText(commented, [{ path: ["note"], value: undefined }])).toThrow(OptionInvalid);
  expect(() => editText(commented, [{ path: [], value: 1 }])).toThrow(OptionInvalid);
});

test("tracks are appended as recorded, and the states of the others stay", () => {
  for (const text of [sealText(commented), sealText(formatCassette(parseCassette(commented)))]) {
    const edited = text.replace('"method": "GET"', '"method": "PUT"');
    const longer = appendTracks(edited, [call("t3"), call("t4")]);
    expect(states(longer)).toEqual(["recorded", "edited", "recorded", "recorded"]);
    expect(parseCassette(longer).seal?.head).toBe(headDigest(parseCassette(longer)));
    expect(longer.includes("// the first")).toBe(text.includes("// the first"));
    expect(longer.includes("// here")).toBe(text.includes("// here"));
  }
  expect(states(appendTracks(commented, [call("t3")]))).toEqual(["authored", "authored", "recorded"]);
  const empty = '{ "wiretape": 1, "tracks": [] }';
  expect(parseCassette(appendTracks(empty, [call("t1")])).tracks).toEqual([call("t1")]);
});

test("vars that come with the tracks are stamped with them, a head that was edited stays edited", () => {
  const sealed = sealText(commented);
  const longer = parseCassette(appendTracks(sealed, [call("t3")], { now: { $number: "1.0" } }));
  expect(longer.vars).toEqual({ now: { $number: "1.0" } });
  expect(longer.seal?.head).toBe(headDigest(longer));
  const strict = sealed.replace('"wiretape": 1,', '"wiretape": 1, "match": { "order": "strict" },');
  const kept = parseCassette(appendTracks(strict, [call("t3")]));
  expect(kept.seal?.head).not.toBe(headDigest(kept));
});

test("values are set and removed where they stand", () => {
  const edit = (...edits: [(string | number)[], Json | undefined][]): string =>
    editText(
      commented,
      edits.map(([path, value]) => ({ path, value })),
    );
  expect(edit([["tracks", 0, "result", "value"], { a: [1] }])).toBe(commented.replace("1.0", '{ "a": [1] }'));
  expect(edit([["tracks", 1, "request", "headers", 0], undefined])).toBe(commented.replace('["a", "b"], ', ""));
  expect(edit([["tracks", 1, "request", "headers", 1], undefined])).toBe(commented.replace(', ["c", "d"]', ""));
  expect(
    edit([
      ["tracks", 1, "request", "headers", 2],
      ["e", "f"],
    ]),
  ).toBe(commented.replace('["c", "d"]', '["c", "d"], ["e", "f"]'));
  expect(edit([["tracks", 1, "fault", "message"], "other"])).toBe(commented.replace('"m"', '"other"'));
  expect(edit([["tracks", 0, "repeat"], "forever"])).toContain(
    '"result": { "value": 1.0 }, "repeat": "forever" }, // here',
  );
  const matched = edit([["match", "ignore", 0], "/body/id"]);
  expect(parseCassette(matched).match).toEqual({ ignore: ["/body/id"] });
  expect(matched).toContain("// the first");
  const removed = edit([["tracks", 0], undefined]);
  expect(parseCassette(removed).tracks.map(({ id }) => id)).toEqual(["t2"]);
  expect(removed).toContain("// the first");
});

test("lines end as they end in the text", () => {
  const text = commented.replaceAll("\n", "\r\n");
  const sealed = appendTracks(sealText(text), [call("t3")]);
  expect(sealed.replaceAll("\r\n", "")).not.toContain("\n");
});

test("any edit of any text gives what the same edit of the value gives, and removing what was added gives the text again", () => {
  const property = fc.property(
    cassettes,
    fc.nat(),
    fc.boolean(),
    fc.constantFrom<Json>("x", 7, { $number: "1.0" }),
    (cassette, which, comment, value) => {
      const canonical = formatCassette(cassette);
      const text = comment ? canonical.replace("{\n", "{ // kept\n") : canonical;
      const names = Object.keys(cassette.vars ?? {});
      const name = names[which % Math.max(names.length, 1)] ?? "fresh";
      const edited = editText(text, [{ path: ["vars", name], value }]);
      expect(parseCassette(edited)).toEqual({ ...cassette, vars: { ...cassette.vars, [name]: value } });
      expect(edited.includes("// kept")).toBe(comment);
      if (!comment) expect(edited).toBe(formatCassette(parseCassette(edited)));
      const added = editText(text, [{ path: ["vars", "brand-new"], value }]);
      const { vars, ...rest } = cassette as Cassette & { vars?: object };
      expect(parseCassette(editText(added, [{ path: ["vars", "brand-new"], value: undefined }]))).toEqual({
        ...rest,
        vars: vars ?? {},
      });
    },
  );
  fc.assert(property, { numRuns: 100 });
});
