import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CassetteInvalid,
  createDeck,
  type DeckOptions,
  lintCassette,
  OptionInvalid,
  openDeck,
  parseCassette,
  SealBroken,
  sealText,
  tapeFetch,
  trackStates,
  withDeck,
} from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

const scratch = useScratch();
let staging: StagingServer;
let recorded = "";
beforeAll(async () => {
  staging = await startStagingServer();
  const path = scratch.cassette();
  await withDeck(path, { mode: "record" }, async (deck) => {
    for (const one of ["/v1/items", "/v1/export.ndjson", "/v1/numbers"])
      await (await tapeFetch(deck)(staging.url + one)).text();
  });
  recorded = await readFile(path, "utf8");
  await staging.close();
});
afterAll(() => staging.close());

/** Writes a text to a file of its own and replays paths from it: the bodies. */
async function replay(text: string, paths: readonly string[], options: DeckOptions = {}): Promise<string[]> {
  const path = scratch.cassette();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return withDeck(path, { mode: "replay", unplayed: "ignore", ...options }, async (deck) => {
    const bodies = [];
    for (const one of paths) bodies.push(await (await tapeFetch(deck)(staging.url + one)).text());
    return bodies;
  });
}

/** The text with one replacement, which must be possible exactly once. */
function edit(text: string, from: string | RegExp, to: string): string {
  const edited = text.replace(from, () => to);
  expect(edited).not.toBe(text);
  return edited;
}

const states = (text: string): string => [...trackStates(parseCassette(text)).values()].join(" ");
const warnings = (text: string): string[] => lintCassette(text).map(({ message }) => message);

describe("each edit plays as it was edited, and is known as an edit", () => {
  test("untouched", async () => {
    expect(states(recorded)).toBe("recorded recorded recorded");
    expect(lintCassette(recorded)).toEqual([]);
    await replay(recorded, ["/v1/items"], { integrity: "sealed" });
  });

  test("a comment, white space and a trailing comma: played the same, and still recorded", async () => {
    const text = edit(recorded, '"tracks": [', '// what the desk asks first\n\n"tracks": [').replace(
      /\n {2}\],\n {2}"seal"/,
      ',\n  ],\n  "seal"',
    );
    expect(states(text)).toBe("recorded recorded recorded");
    const [before] = await replay(recorded, ["/v1/export.ndjson"]);
    expect(await replay(text, ["/v1/export.ndjson"], { integrity: "sealed" })).toEqual([before]);
  });

  test("an event is changed", async () => {
    const text = edit(recorded, '"order.paid"', '"order.refused"');
    expect((await replay(text, ["/v1/export.ndjson"]))[0]).toContain(
      '{"id":2,"event":"order.refused","total":"42.00"}\n',
    );
    expect(states(text)).toBe("recorded edited recorded");
    expect(warnings(text)).toContain('track "t2" was edited since it was recorded');
    await expect(replay(text, [], { integrity: "sealed" })).rejects.toThrow(SealBroken);
    await expect(replay(text, [], { integrity: "sealed" })).rejects.toThrow(/track t2 is edited.*\n.*wiretape seal/s);
    expect(states(sealText(text))).toBe("recorded recorded recorded");
    await replay(sealText(text), ["/v1/items"], { integrity: "sealed" });
  });

  test("a frame is duplicated", async () => {
    const frame = /^ +\{ "at": \d+, "line": \{ "id": 1.*\n/m.exec(recorded)?.[0] as string;
    const text = edit(recorded, frame, frame + frame);
    const [body] = await replay(text, ["/v1/export.ndjson"]);
    expect(body?.split("\n").filter((line) => line.includes('"id":1'))).toHaveLength(2);
    expect(states(text)).toBe("recorded edited recorded");
  });

  test("the tail of a body is deleted", async () => {
    const text = edit(recorded, /,\n +\{[^\n]*"line": \{ "id": 4[^\n]*/, "");
    expect((await replay(text, ["/v1/export.ndjson"]))[0]).not.toContain("order.delivered");
    expect(states(text)).toBe("recorded edited recorded");
  });

  test("a track is added by hand, with as little as possible", async () => {
    const track = `{ "id": "outage", "kind": "http", "request": { "method": "GET", "url": "${staging.url}/v1/status" },
      "response": { "status": 503, "headers": [["retry-after", "1"]], "body": { "json": { "down": true } } } },`;
    const text = edit(recorded, '"tracks": [', `"tracks": [ ${track}`);
    expect((await replay(text, ["/v1/status", "/v1/items"]))[0]).toBe('{"down":true}');
    expect(states(text)).toBe("authored recorded recorded recorded");
    expect(warnings(text).join("\n")).toContain('track "outage" was not recorded');
    expect(warnings(text).join("\n")).toContain("list of tracks is not as it was sealed");
  });

  test("a track is taken out", async () => {
    const cassette = parseCassette(recorded);
    const text = JSON.stringify({ ...cassette, tracks: cassette.tracks.slice(1) });
    expect(states(text)).toBe("recorded recorded");
    expect(warnings(text).join("\n")).toContain("list of tracks is not as it was sealed");
    await expect(replay(text, ["/v1/items"])).rejects.toThrow("was never recorded");
  });

  test("a status, a header and a failure in place of an end", async () => {
    const text = edit(
      edit(recorded, '"status": 200', '"status": 418'),
      /"body": \[\n/,
      '"end": { "error": { "name": "TypeError", "message": "terminated" } }, "body": [\n',
    );
    const deck = await createDeck({ cassette: parseCassette(text), mode: "replay", unplayed: "ignore" });
    const fetch = tapeFetch(deck);
    expect((await fetch(`${staging.url}/v1/items`)).status).toBe(418);
    const torn = await fetch(`${staging.url}/v1/export.ndjson`);
    await expect(torn.text()).rejects.toThrow("terminated");
    await deck.finish();
  });

  test("the length of an edited body is stated anew", async () => {
    const items = JSON.parse((await replay(recorded, ["/v1/items"]))[0] as string);
    const name = Object.keys(items)[0] as string;
    const text = edit(recorded, `"${name}":`, `"${name}-and-more":`);
    const deck = await createDeck({ cassette: parseCassette(text), mode: "replay", unplayed: "ignore" });
    const response = await tapeFetch(deck)(`${staging.url}/v1/items`);
    const stated = Number(response.headers.get("content-length"));
    expect(stated).toBe((await response.arrayBuffer()).byteLength);
    expect(warnings(text).join("\n")).toMatch(/states \d+ bytes, the body has \d+; it is stated anew in play/);
    await deck.finish();
  });

  test("repeat: a count, or for ever", async () => {
    const twice = edit(recorded, '"id": "t1",', '"id": "t1", "repeat": 2,');
    expect(await replay(twice, ["/v1/items", "/v1/items"])).toHaveLength(2);
    await expect(replay(twice, ["/v1/items", "/v1/items", "/v1/items"])).rejects.toThrow("asked for");
    const forever = edit(recorded, '"id": "t1",', '"id": "t1", "repeat": "forever",');
    const bodies = await replay(
      forever,
      Array.from({ length: 30 }, () => "/v1/items"),
    );
    expect(new Set(bodies).size).toBe(1);
    await expect(replay(forever, ["/v1/export.ndjson", "/v1/numbers"], { unplayed: "error" })).resolves.toHaveLength(2);
  });

  test("optional: leaving it out is no fault", async () => {
    await expect(replay(recorded, ["/v1/items", "/v1/export.ndjson"], { unplayed: "error" })).rejects.toThrow(
      "never asked for",
    );
    const text = edit(recorded, '"id": "t3",', '"id": "t3", "optional": true,');
    await replay(text, ["/v1/items", "/v1/export.ndjson"], { unplayed: "error" });
  });

  test("502 twice, then the answer: a retry is tested by hand", async () => {
    const bad = `{ "id": "bad", "kind": "http", "repeat": 2, "request": { "method": "GET", "url": "${staging.url}/v1/items" },
      "response": { "status": 502, "body": { "text": "bad gateway" } } },`;
    const bodies = await replay(edit(recorded, '"tracks": [', `"tracks": [ ${bad}`), [
      "/v1/items",
      "/v1/items",
      "/v1/items",
    ]);
    expect(bodies.slice(0, 2)).toEqual(["bad gateway", "bad gateway"]);
    expect(bodies[2]).toContain("{");
  });
});

test("six kinds of mistakes in one file get line, column and a helpful sentence, all in one run", async () => {
  const text = `{
  "wiretape": 1,
  "tracks": [
    {
      "id": "t1", "kind": "http", "repeet": 2,
      "request": { "method": "GET", "url": "https://a.example/" },
      "response": { "status": 200, "body": [
        { "at": 1, "text": "a", "json": 1 },
        { "at": 2, "base64": "!!!" },
        { "at": 3, "after": "t99", "text": "b" }
      ] }
    },
    { "id": "t1", "kind": "http", "request": { "method": "GET", "url": "https://a.example/" }, "response": { "status": 200 } }
  ]
} trailing`;
  const path = scratch.cassette();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  const error = (await openDeck(path, { mode: "replay" }).catch((reason: unknown) => reason)) as CassetteInvalid;
  expect(error.code).toBe("cassette-invalid");
  const issues = error.details.issues as { line: number; column: number; message: string }[];
  expect(issues).toEqual(lintCassette(text).map(({ severity: _, ...issue }) => issue));
  const at = (line: number): string =>
    issues
      .filter((issue) => issue.line === line)
      .map(({ message }) => message)
      .join("; ");
  expect(at(5)).toMatch(/repeet.*repeat/); // the nearest key
  expect(at(8)).toMatch(/json.*text|text.*json/);
  expect(at(9)).toMatch(/base64/);
  expect(at(10)).toMatch(/t99/);
  expect(at(13)).toContain('duplicate track id "t1"; the first is on line 4');
  expect(at(15)).toBeTruthy(); // what follows the end
  for (const { column } of issues) expect(column).toBeGreaterThan(0);
  for (const { line, column } of issues) expect(error.message).toContain(`${line}:${column}`);
  expect(await readFile(path, "utf8")).toBe(text);
});

describe("what a cassette declares about matching holds in both modes", () => {
  const post = (deck: Parameters<typeof tapeFetch>[0], body: unknown, headers: Record<string, string> = {}) =>
    tapeFetch(deck)(`${staging.url}/v1/echo`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }).then((response) => response.text());

  async function recordPosts(
    match: DeckOptions["match"],
    posts: [unknown, Record<string, string>?][],
  ): Promise<string> {
    const server = await startStagingServer();
    const path = scratch.cassette();
    const at = staging;
    staging = server;
    try {
      await withDeck(path, { mode: "record", ...(match === undefined ? {} : { match }) }, async (deck) => {
        for (const [body, headers] of posts) await post(deck, body, headers);
      });
    } finally {
      staging = at;
      await server.close();
    }
    return (await readFile(path, "utf8")).replaceAll(server.url, at.url);
  }

  const open = (text: string, match?: DeckOptions["match"]) =>
    createDeck({ cassette: parseCassette(text), mode: "replay", ...(match === undefined ? {} : { match }) });

  test("ignore", async () => {
    const text = await recordPosts({ ignore: ["/body/requestId", "/body/items/*/id"] }, [
      [{ q: 1, requestId: "a", items: [{ id: 1, n: 2 }] }],
    ]);
    expect(text).toContain('"ignore": ["/body/requestId", "/body/items/*/id"]');
    const deck = await open(text);
    await expect(post(deck, { q: 1, requestId: "z", items: [{ id: 9, n: 3 }] })).rejects.toThrow(
      "/body/items/0/n: recorded 2, now 3",
    );
    deck.expectViolation("unrecorded-request");
    await post(deck, { requestId: "z", items: [{ n: 2, id: 9 }], q: 1 });
    await deck.finish();
  });

  test("include", async () => {
    const text = await recordPosts({ include: ["/headers/x-tenant"] }, [
      [1, { "X-Tenant": "a" }],
      [1, { "x-tenant": "b" }],
    ]);
    const deck = await open(text);
    await expect(post(deck, 1, { "x-tenant": "c" })).rejects.toThrow(/\/headers\/x-tenant\/0: recorded "a", now "c"/);
    deck.expectViolation("unrecorded-request");
    await post(deck, 1, { "x-tenant": "b", "x-other": "1" });
    await post(deck, 1, { "x-tenant": "a" });
    await deck.finish();
  });

  test("normalize, on both sides, by its name", async () => {
    const normalize = {
      name: "lower-case",
      fn: (facets: Record<string, unknown>) => ({ ...facets, body: String(facets.body).toLowerCase() }),
    } as never;
    const text = await recordPosts({ normalize }, [["HELLO"]]);
    expect(text).toContain('"normalize": "lower-case"');
    const deck = await open(text, { normalize });
    await post(deck, "hello");
    await deck.finish();
    await expect(open(text)).rejects.toThrow(/needs the normalizer "lower-case"/);
    await expect(open(text, { normalize: { name: "other", fn: (facets) => facets } })).rejects.toBeInstanceOf(
      OptionInvalid,
    );
  });

  test("an option that differs from the cassette is refused, one that agrees is not", async () => {
    const text = await recordPosts({ ignore: ["/body/id"] }, [[1]]);
    await (await open(text, { ignore: ["/body/id"] })).finish("failed");
    for (const match of [
      { ignore: [] },
      { ignore: ["/body/other"] },
      { include: ["/headers/a"] },
      { order: "strict" as const },
    ]) {
      await expect(open(text, match)).rejects.toBeInstanceOf(OptionInvalid);
    }
    await expect(open(text, { ignore: ["body"] })).rejects.toBeInstanceOf(OptionInvalid);
  });

  test("order strict is kept", async () => {
    const text = await recordPosts({ order: "strict" }, [[1], [2]]);
    const deck = await open(text);
    await expect(post(deck, 2)).rejects.toMatchObject({ code: "out-of-order" });
    deck.expectViolation("out-of-order");
    await post(deck, 1);
    await post(deck, 2);
    await deck.finish();
  });
});

test("lanes: the same requests in both, each with its own order; a track in the other lane is no answer", async () => {
  const server = await startStagingServer();
  const path = scratch.cassette();
  const program = async (fetch: typeof globalThis.fetch): Promise<unknown[]> => {
    const bodies = [];
    for (let i = 0; i < 3; i++) bodies.push(await (await fetch(`${server.url}/v1/flaky?fail=2&key=k`)).text());
    return bodies;
  };
  const recordedLanes = await withDeck(path, { mode: "record" }, async (deck) => [
    await program(tapeFetch(deck.lane("planner"))),
    await program(tapeFetch(deck.lane("writer"))),
    await program(tapeFetch(deck)),
  ]);
  await server.close();
  expect(recordedLanes[0]).not.toEqual(recordedLanes[1]);
  const replayed = await withDeck(path, { mode: "replay" }, async (deck) => {
    expect(deck.lane("planner")).toBe(deck.lane("planner"));
    expect(() => deck.lane("no good")).toThrow(OptionInvalid);
    const [main, writer, planner] = await Promise.all([
      program(tapeFetch(deck)),
      program(tapeFetch(deck.lane("writer"))),
      program(tapeFetch(deck.lane("planner"))),
    ]);
    deck.expectViolation("script-exhausted");
    await expect(tapeFetch(deck.lane("writer"))(`${server.url}/v1/flaky?fail=2&key=k`)).rejects.toThrow("lane writer");
    return [planner, writer, main];
  });
  expect(replayed).toEqual(recordedLanes);
});
