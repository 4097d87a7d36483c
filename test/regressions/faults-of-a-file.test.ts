import { expect, test } from "vitest";
import { type Cassette, createDeck, formatCassette, memoryStore, parseCassette, sealText } from "wiretape";
import { useScratch } from "../support/scratch.ts";

/** Faults of a cassette that were told without their place, in words that misled, or with others that were none. */
useScratch();

interface Told {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

function faults(text: string): readonly string[] {
  try {
    parseCassette(text);
  } catch (error) {
    const { code, details } = error as { code: string; details: { issues: readonly Told[] } };
    expect(code).toBe("cassette-invalid");
    return details.issues.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
  }
  return [];
}

const file = (track: object, head = {}): string =>
  `{ "wiretape": 1,\n${JSON.stringify(head).slice(1, -1)}${Object.keys(head).length > 0 ? "," : ""}\n"tracks": [\n${JSON.stringify({ id: "t1", ...track })}] }`;
const exchange = {
  kind: "http",
  request: { method: "GET", url: "http://localhost/" },
  response: { status: 200 },
};

test("an entry of match.ignore or match.include that is no JSON Pointer is a fault of the file, with its place", async () => {
  expect(
    faults(file(exchange, { match: { ignore: ["/body/a", "body/b", 3, ""], include: ["headers/x"] } })),
  ).toMatchInlineSnapshot(`
    [
      "2:30 match.ignore[1]: must be a JSON Pointer, as "/body/requestId", not the text "body/b"",
      "2:39 match.ignore[2]: must be a JSON Pointer, as "/body/requestId", not 3",
      "2:41 match.ignore[3]: must be a JSON Pointer, as "/body/requestId", not the text """,
      "2:56 match.include[0]: must be a JSON Pointer, as "/body/requestId", not the text "headers/x"",
    ]
  `);
  expect(faults(file(exchange, { match: { ignore: "/body/a" } }))).toMatchInlineSnapshot(`
    [
      "2:19 match.ignore: must be a list (each a JSON Pointer, as "/body/requestId"), not the text "/body/a"",
    ]
  `);
  const deck = createDeck({ cassette: { wiretape: 1, match: { ignore: ["x"] }, tracks: [] } as Cassette });
  await expect(deck).rejects.toMatchObject({
    code: "cassette-invalid",
    details: { issues: [{ path: "match.ignore[0]" }] },
  });
});

test("it is one in a sealed file that was edited, when a deck opens it", async () => {
  const good = sealText(formatCassette(parseCassette(file(exchange, { match: { ignore: ["/body/a"] } }))));
  const store = memoryStore();
  await store.createExclusive("a.cassette.json", new TextEncoder().encode(good.replace('"/body/a"', '"body/a"')));
  await expect(createDeck({ store, name: "a.cassette.json", mode: "replay" })).rejects.toMatchObject({
    code: "cassette-invalid",
    details: { issues: [{ line: 3, path: "match.ignore[0]" }] },
  });
});

test("repeat: each of the two that are right is told, and the nearest word", () => {
  const told = ["always", "forevr", 0, 1.5, "3", true, null].flatMap((repeat) => faults(file({ ...exchange, repeat })));
  expect(told.map((fault) => fault.replace(/^\d+:\d+ /, ""))).toMatchInlineSnapshot(`
    [
      "tracks[0].repeat: must be a whole number from 1 or "forever", not the text "always"",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not the text "forevr"; did you mean "forever"?",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not 0",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not 1.5",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not the text "3"",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not true",
      "tracks[0].repeat: must be a whole number from 1 or "forever", not null",
    ]
  `);
});

test("repeat: a count and forever are right", () => {
  expect(faults(file({ ...exchange, repeat: 2 }))).toEqual([]);
  expect(faults(file({ ...exchange, repeat: "forever" }))).toEqual([]);
});

test("a track without a kind, or of an unknown one, has one fault, which names the kinds", () => {
  const { kind: _, ...rest } = exchange;
  expect(faults(file(rest))).toMatchInlineSnapshot(`
    [
      "4:1 tracks[0]: "kind" is missing; the kinds are: http, websocket, process, mcp, agent, model, function",
    ]
  `);
  expect(faults(file({ ...rest, kind: "htp" }))).toMatchInlineSnapshot(`
    [
      "4:98 tracks[0].kind: the text "htp" is no kind of track; did you mean "http"?",
    ]
  `);
  expect(faults(file({}))).toHaveLength(1);
  expect(faults(file({ call: { name: "f" }, result: {}, error: { name: "E", message: "m" } }))).toHaveLength(1);
});

test("a file of a newer format is told to be that, and nothing else", async () => {
  const newer = '{\n  "wiretape": 2, "new": 1,\n  "tracks": {}, "new": 2,,\n}';
  expect(faults(newer)).toMatchInlineSnapshot(`
    [
      "2:15 wiretape: this file was written by a newer wiretape, in version 2 of the format; the one that is installed reads version 1: update wiretape",
    ]
  `);
  const value = { wiretape: 3, tapes: [] } as unknown as Cassette;
  await expect(createDeck({ cassette: value })).rejects.toMatchObject({
    code: "cassette-invalid",
    details: { issues: [{ path: "wiretape", message: expect.stringContaining("version 3 of the format") }] },
  });
  for (const version of ['"2"', "0", "1.5", "null"])
    expect(faults(newer.replace('"wiretape": 2', `"wiretape": ${version}`)).length).toBeGreaterThan(2);
});
