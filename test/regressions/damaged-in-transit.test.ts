import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import {
  type Cassette,
  createDeck,
  formatCassette,
  type HttpTrack,
  openDeck,
  parseCassette,
  tapeFetch,
  withDeck,
} from "wiretape";
import { rawServer } from "../support/raw-server.ts";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";
import { twice } from "../support/twice.ts";

/** Faults of other tools that change what crossed the wire, or the file that holds it. */
const scratch = useScratch();

async function recorded(head: string, body: string): Promise<HttpTrack> {
  const server = await rawServer(() => [`HTTP/1.1 200 OK\r\n${head}connection: close\r\n\r\n`, body]);
  const { text } = await twice(
    async (fetch) => {
      const response = await fetch(`${server.url}/`, { headers: { accept: "text/event-stream" } });
      return [[...response.headers], Buffer.from(await response.arrayBuffer()).toString("latin1")];
    },
    { gone: server.close },
  );
  return parseCassette(text).tracks[0] as HttpTrack;
}

test("several Set-Cookie headers stay several", async () => {
  const { response } = await recorded("Set-Cookie: a=; Path=/\r\nset-cookie: b=\r\ncontent-length: 2\r\n", "ok");
  expect(response?.headers?.filter(([name]) => name === "set-cookie")).toHaveLength(2);
});

test("an event keeps its name, id, comment and several data lines", async () => {
  const { response } = await recorded(
    "content-type: text/event-stream\r\n",
    ": hi\nevent: x\nid: 7\nretry: 10\ndata: a\ndata: b\n\n",
  );
  expect(response?.body).toMatchObject({ sse: { comment: "hi", event: "x", id: "7", retry: 10, data: "a\nb" } });
});

test("a JSON answer to a request that asked for a stream is told by the answer, not by the request", async () => {
  const { response } = await recorded("content-type: application/json\r\ncontent-length: 11\r\n", '{"error":1}');
  expect(response?.body).toMatchObject({ json: { error: 1 } });
});

test("text is not normalised, and a byte order mark is not eaten", async () => {
  const decomposed = Buffer.from("\ufeffe\u0301", "utf8").toString("latin1");
  const { response } = await recorded("content-type: text/plain\r\n", decomposed);
  expect(JSON.stringify(response?.body)).toContain("e\u0301");
});

test("bytes that are no text are kept as bytes, whatever the header says", async () => {
  const { response } = await recorded("content-type: text/plain; charset=utf-8\r\n", "\xff\xfe\x00ok");
  expect(response?.body).toMatchObject({ base64: Buffer.from("\xff\xfe\x00ok", "latin1").toString("base64") });
});

test("an edited body that no longer fits its content-length neither hangs nor is cut off", async () => {
  const track = await recorded("content-type: text/plain\r\ncontent-length: 5\r\n", "short");
  const response = { ...track.response, body: { text: "much longer than it was" } };
  const deck = await createDeck({
    cassette: { wiretape: 1, tracks: [{ ...track, response } as HttpTrack] },
    mode: "replay",
  });
  const answer = await tapeFetch(deck)(track.request.url);
  expect([answer.headers.get("content-length"), await answer.text()]).toEqual(["23", "much longer than it was"]);
  await deck.finish();
});

test("playback does not rewrite the file, not even its time stamp", async () => {
  const path = scratch.cassette();
  const url = "https://api.example.com/";
  const cassette: Cassette = {
    wiretape: 1,
    tracks: [{ id: "t1", kind: "http", request: { method: "GET", url }, response: { status: 204 } }],
  };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `// by hand\n${formatCassette(cassette)}`);
  const before = [await readFile(path, "utf8"), (await stat(path)).mtimeMs];
  for (const mode of ["auto", "replay"] as const) await withDeck(path, { mode }, (deck) => tapeFetch(deck)(url));
  expect([await readFile(path, "utf8"), (await stat(path)).mtimeMs]).toEqual(before);
});

test("a file that cannot be read is no empty cassette that the next run records over", async () => {
  for (const text of ["", "{", "null", '{"wiretape": 2, "tracks": []}', "\u0000\u0001"]) {
    const path = scratch.cassette();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await expect(openDeck(path, { mode: "auto" })).rejects.toMatchObject({ code: "cassette-invalid" });
    expect(await readFile(path, "utf8")).toBe(text);
  }
});

test("a request that nobody recorded is never forwarded", async () => {
  let forwarded = 0;
  const deck = await createDeck({ cassette: { wiretape: 1, tracks: [] }, mode: "replay" });
  const fetch = tapeFetch(deck, async () => {
    forwarded++;
    return new Response();
  });
  await expect(fetch("https://api.example.com/")).rejects.toMatchObject({ code: "unrecorded-request" });
  expect(forwarded).toBe(0);
  deck.expectViolation("unrecorded-request");
  await deck.finish();
});
