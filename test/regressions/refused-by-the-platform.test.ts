import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cassette, createDeck, openDeck, tapeFetch, withDeck } from "wiretape";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** What the platform refuses was refused while recording and answered in a replay, or the other way round. */
const scratch = useScratch();
const server = createServer((_, response) => response.end("answer"));
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.close();
});

async function* pieces() {
  yield new TextEncoder().encode("piece");
}

const stream = (): ReadableStream => pieces() as unknown as ReadableStream;
const refused: [string, () => RequestInit][] = [
  ["a header name with a space", () => ({ headers: { "a b": "x" } })],
  ["a header value with a line break", () => ({ headers: { a: "x\ny" } })],
  ["a header value outside Latin-1", () => ({ headers: { a: "\u65e5" } })],
  ["a streamed body without duplex", () => ({ method: "POST", body: stream() })],
  ["a streamed body of a GET", () => ({ body: stream(), duplex: "half" }) as RequestInit],
];

test.each(refused)("%s: the same error while recording and replaying, and no track for it", async (_, init) => {
  const path = scratch.cassette();
  const run = async (fetch: typeof globalThis.fetch): Promise<unknown[]> => {
    const error = (await fetch(url, init()).catch((reason: unknown) => reason)) as Error;
    return [error.name, error.message, await (await fetch(url)).text()];
  };
  const recorded = await withDeck(path, { mode: "record" }, (deck) => run(tapeFetch(deck)));
  expect(recorded).toEqual(["TypeError", expect.any(String), "answer"]);
  expect(await withDeck(path, { mode: "replay" }, (deck) => run(tapeFetch(deck)))).toEqual(recorded);
});

test("a URL with credentials is the platform's error, and nothing that was not recorded", async () => {
  const path = scratch.cassette();
  const run = async (fetch: typeof globalThis.fetch): Promise<unknown[]> => {
    const error = (await fetch("http://u:p@localhost/").catch((reason: unknown) => reason)) as Error;
    return [error.name, error.message, await (await fetch(url)).text()];
  };
  const recorded = await withDeck(path, { mode: "record" }, (deck) => run(tapeFetch(deck)));
  expect(recorded[0]).toBe("TypeError");
  expect(await withDeck(path, { mode: "replay" }, (deck) => run(tapeFetch(deck)))).toEqual(recorded);
});

test.each([
  ["no Response", { ok: true, json: async (): Promise<number> => 1 }],
  ["nothing", undefined],
  ["an error response", Response.error()],
])(
  "a given fetch that returns %s: told at once and by finish, not as a cassette that is invalid",
  async (_, answer) => {
    const deck = await openDeck(scratch.cassette(), { mode: "record" });
    const fetch = tapeFetch(deck, async () => answer as Response);
    const error = await fetch(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "option-invalid" });
    expect((error as Error).message).toContain(`What fetch returned for GET ${url} cannot be recorded`);
    await expect(deck.finish()).rejects.toBe(error);
    deck.expectViolation("option-invalid");
  },
);

test("a header edited into one that no response can hold names its track, and cannot be swallowed", async () => {
  const response = { status: 200, headers: [["conn ection", "x"]], body: { text: "x" } };
  const cassette = {
    wiretape: 1,
    tracks: [{ id: "t1", kind: "http", request: { method: "GET", url }, response }],
  } as unknown as Cassette;
  const deck = await createDeck({ cassette });
  const error = await tapeFetch(deck)(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "cassette-invalid", details: { track: "t1" } });
  expect((error as Error).message).toMatch(/The answer of track t1 cannot be given: .*conn ection/);
  await expect(deck.finish()).rejects.toBe(error);
  deck.expectViolation("cassette-invalid");
});
