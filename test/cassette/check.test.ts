import fc from "fast-check";
import { expect, test } from "vitest";
import { checkShape } from "../../src/cassette/check.ts";
import { formatPath } from "../../src/cassette/fault.ts";
import { cassetteJsonSchema } from "../../src/cassette/json-schema.ts";
import { cassetteSchema } from "../../src/cassette/schema.ts";
import { sealCassette } from "../../src/cassette/seal.ts";
import { jsonSchema } from "../../tools/write-schema.ts";
import { cassettes } from "./arbitrary-cassette.ts";

test("the checked-in JSON Schema is the one that the zod schema gives", () => {
  expect(cassetteJsonSchema).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
});

type Container = Record<string | number, unknown>;

/** Every place in a document: its container and key. */
function places(value: unknown, found: [Container, string | number][] = []): [Container, string | number][] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    // zod passes over a key of this name in a record, whatever stands there; the compiled check does not.
    if (key === "__proto__") continue;
    found.push([value as Container, Array.isArray(value) ? Number(key) : key]);
    places((value as Container)[key], found);
  }
  return found;
}

const intruders = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  "",
  "x",
  "-",
  "t1",
  "http",
  "forever",
  "client",
  [],
  [1],
  [1, 2],
  ["a", "b"],
  {},
  { a: 1 },
];
const newKeys = [
  "x",
  "note",
  "at",
  "json",
  "kind",
  "id",
  "after",
  "error",
  "repeat",
  "style",
  "toString",
  "constructor",
];

test("the compiled check and the zod schema accept the same documents: valid ones and single mutations of them", () => {
  let refused = 0;
  const property = fc.property(
    cassettes.map(sealCassette),
    fc.nat(),
    fc.constantFrom("replace", "delete", "add", "rename"),
    fc.constantFrom(...intruders),
    fc.constantFrom(...newKeys),
    (cassette, where, how, intruder, key) => {
      expect(checkShape(cassette)).toEqual([]);
      expect(cassetteSchema.safeParse(cassette).success).toBe(true);
      const mutant = structuredClone(cassette);
      const all = places(mutant);
      const [container, at] = all[where % all.length]!;
      if (how === "replace") container[at] = intruder;
      else if (Array.isArray(container))
        container.splice(at as number, how === "delete" ? 1 : 0, ...(how === "delete" ? [] : [intruder]));
      else if (how === "delete") delete container[at];
      else {
        if (how === "rename") delete container[at];
        container[key] = intruder;
      }
      const zod = cassetteSchema.safeParse(mutant);
      const faults = checkShape(mutant);
      expect(faults.length === 0, JSON.stringify([mutant, faults, zod.error?.issues], null, 1)).toBe(zod.success);
      if (!zod.success) refused++;
    },
  );
  fc.assert(property, { numRuns: 1000 });
  expect(refused).toBeGreaterThan(150);
}, 120_000);

const told = (document: unknown): string[] =>
  checkShape(document).map(({ path, message }) => `${formatPath(path)}: ${message}`);

test("a fault says what would be right", () => {
  expect(told([])).toEqual([": must be a cassette, an object, not a list"]);
  expect(told({ wiretape: 0, trcks: [] })).toMatchInlineSnapshot(`
    [
      ": "tracks" is missing",
      "wiretape: must be 1, not 0",
      "trcks: unknown key "trcks"; did you mean "tracks"?",
    ]
  `);
  const request = { method: "GET", url: "/" };
  const track = { id: "t1", kind: "http", request };
  expect(
    told({ wiretape: 1, tracks: [{ ...track, kind: "htp" }, { ...track, kind: 7 }, { id: "t3" }, 4] }),
  ).toMatchInlineSnapshot(`
    [
      "tracks[0].kind: the text "htp" is no kind of track; did you mean "http"?",
      "tracks[1].kind: 7 is no kind of track; the kinds are: http, websocket, process, mcp, agent, model, function",
      "tracks[2]: "kind" is missing; the kinds are: http, websocket, process, mcp, agent, model, function",
      "tracks[3]: must be a track, not 4",
    ]
  `);
  const response = {
    at: -1,
    status: "200",
    seen: "decoed",
    headers: [["a"], "b", [1, "c"]],
    body: [{ cuts: [[1], [1, 2, 3]], style: { json: { colon: "=" } } }, "text"],
    end: { by: "server", error: { name: "E" } },
  };
  expect(
    told({ wiretape: 1, tracks: [{ ...track, repeat: 0, after: 3, lane: "a b", response }] }),
  ).toMatchInlineSnapshot(`
    [
      "tracks[0].repeat: must be a whole number from 1 or "forever", not 0",
      "tracks[0].after: must be a track id, a list of track ids, "start", or a pattern over the trace, not 3",
      "tracks[0].lane: must be a name of letters, digits, "_", "." and "-" that begins with a letter or digit, not the text "a b"",
      "tracks[0].response.at: must be a whole number of milliseconds, not -1",
      "tracks[0].response.status: must be a whole number from 100 to 999, not the text "200"",
      "tracks[0].response.seen: must be "decoded" or "wire", not the text "decoed"; did you mean "decoded"?",
      "tracks[0].response.headers[0]: must be [a text, a text], not a list of 1",
      "tracks[0].response.headers[1]: must be [a text, a text], not the text "b"",
      "tracks[0].response.headers[2][0]: must be a text, not 1",
      "tracks[0].response.body[0].cuts[0]: must be [offset, at] or [offset, at, gate], not a list",
      "tracks[0].response.body[0].cuts[1][2]: must be a track id, a list of track ids, "start", or a pattern over the trace, not 3",
      "tracks[0].response.body[0].style.json.colon: must be ":" or ": ", not the text "="",
      "tracks[0].response.body[1]: must be a frame with exactly one content key, not the text "text"",
      "tracks[0].response.end.by: must be "client", not the text "server"",
      "tracks[0].response.end.error: "message" is missing",
    ]
  `);
});
