import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileStore, parseCassette, SidecarBroken, tapeFetch, withDeck } from "wiretape";
import { filesBelow, useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** An upload that is no JSON and larger than 256 KiB stands in a file, and was never found again. */
const scratch = useScratch();
const server = createServer((request, response) => {
  let size = 0;
  request.on("data", (data: Uint8Array) => {
    size += data.length;
  });
  request.on("end", () => response.end(`${size}`));
});
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/upload`;
});
afterAll(() => {
  server.close();
});

const blob = (fill: number): Uint8Array<ArrayBuffer> => new Uint8Array(400_000).fill(fill);
const form = (fill: number): FormData => {
  const data = new FormData();
  data.append("file", new Blob([blob(fill)]), "large.bin"); // the boundary is made up anew each time
  return data;
};

async function upload(fetch: typeof globalThis.fetch): Promise<string[]> {
  const answers: string[] = [];
  for (const body of [blob(1), form(2), blob(3)]) {
    answers.push(await (await fetch(url, { method: "POST", body })).text());
  }
  return answers;
}

test("uploads of 400 kB, alone and in a form, are found again; another one is not", async () => {
  const path = scratch.cassette();
  const recorded = await withDeck(path, { mode: "record" }, (deck) => upload(tapeFetch(deck)));
  expect([...(await filesBelow(dirname(path))).keys()].filter((name) => name.startsWith("tape.files/"))).toHaveLength(
    3,
  );
  expect(await withDeck(path, { mode: "replay" }, (deck) => upload(tapeFetch(deck)))).toEqual(recorded);
  expect(await withDeck(path, { mode: "extend" }, (deck) => upload(tapeFetch(deck)))).toEqual(recorded);

  await withDeck(path, { mode: "replay", unplayed: "ignore" }, async (deck) => {
    const other = await tapeFetch(deck)(url, { method: "POST", body: blob(4) }).catch((error: unknown) => error);
    expect(other).toMatchObject({ code: "unrecorded-request" });
    deck.expectViolation("unrecorded-request");
  });
});

test("the file of an upload that is gone is named when the deck is opened", async () => {
  const path = scratch.cassette();
  await withDeck(path, { mode: "record" }, (deck) => upload(tapeFetch(deck)));
  const text = new TextDecoder().decode((await fileStore(dirname(path)).read("tape.cassette.json")) as Uint8Array);
  const [track] = parseCassette(text).tracks;
  const file = track?.kind === "http" && (track.request.body as { file?: { path: string } }).file?.path;
  await rm(`${dirname(path)}/${file}`);
  const error = await withDeck(path, { mode: "replay" }, async () => undefined).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SidecarBroken);
  expect((error as Error).message).toContain(`${file}, which belongs to ${path}, is not there.`);
});
