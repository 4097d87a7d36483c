import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpTrack, openDeck, parseCassette, SidecarBroken, tapeFetch, trackStates, withDeck } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { filesBelow, useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

const scratch = useScratch();
let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer();
});
afterAll(() => staging.close());

/** A binary of 700 kB, chunk by chunk. */
async function download(fetch: typeof globalThis.fetch): Promise<{ chunks: string[]; size: number; digest: string }> {
  const response = await fetch(`${staging.url}/v1/large?bytes=700000`);
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body as ReadableStream<Uint8Array>) pieces.push(piece.slice());
  const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  const all = Buffer.concat(pieces);
  return { chunks: pieces.map((piece) => `${piece.length} ${digest(piece)}`), size: all.length, digest: digest(all) };
}

test("a binary of 700 kB becomes a file beside the cassette and replays; one that was tampered with or is missing is SidecarBroken", async () => {
  const path = scratch.cassette();
  const recorded = await withDeck(path, { mode: "record" }, (deck) => download(tapeFetch(deck)));
  expect(recorded.size).toBe(700_000);

  const files = await filesBelow(dirname(path));
  const sidecars = [...files.keys()].filter((name) => name.startsWith("tape.files/"));
  expect(files.size).toBe(1 + sidecars.length);
  const text = files.get("tape.cassette.json") as string;
  expect(text.length).toBeLessThan(20_000);
  const { response } = parseCassette(text).tracks[0] as HttpTrack;
  const frames = [response?.body ?? []].flat() as { file?: { path: string; sha256: string; size: number } }[];
  const listed = frames.flatMap(({ file }) => (file === undefined ? [] : [file]));
  expect(listed.map(({ path: name }) => name).sort()).toEqual(sidecars.sort());
  for (const { path: name, sha256, size } of listed) {
    const bytes = Buffer.from(files.get(name) as string, "latin1");
    expect([createHash("sha256").update(bytes).digest("hex"), bytes.length]).toEqual([sha256, size]);
    expect(name).toBe(`tape.files/${sha256}`);
  }

  const replayed = await withDeck(path, { mode: "replay", integrity: "sealed" }, (deck) => download(tapeFetch(deck)));
  expect(replayed).toEqual(recorded);

  const sidecar = join(dirname(path), sidecars[0] as string);
  const bytes = await readFile(sidecar);
  const broken: [string, () => Promise<unknown>, RegExp][] = [
    [
      "one bit",
      () =>
        writeFile(
          sidecar,
          Uint8Array.from(bytes, (byte, i) => (i === 4711 ? byte ^ 1 : byte)),
        ),
      /does not have the recorded digest/,
    ],
    ["the end", () => writeFile(sidecar, bytes.subarray(0, -1)), /has \d+ bytes, \d+ were recorded/],
    ["all of it", () => rm(sidecar), /is not there/],
  ];
  for (const [, damage, message] of broken) {
    await damage();
    const swallowed = withDeck(path, { mode: "replay" }, async (deck) => {
      await download(tapeFetch(deck)).catch(() => undefined);
    });
    const error = (await swallowed.catch((reason: unknown) => reason)) as SidecarBroken;
    expect(error).toBeInstanceOf(SidecarBroken);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(sidecars[0]);
  }
  await writeFile(sidecar, bytes);
  await withDeck(path, { mode: "replay" }, (deck) => download(tapeFetch(deck)));
});

test("the same bytes recorded twice are one file, and a recording that extends adds its own", async () => {
  const path = scratch.cassette();
  const get = async (fetch: typeof globalThis.fetch, bytes: number): Promise<number> =>
    (await (await fetch(`${staging.url}/v1/large?bytes=${bytes}`)).arrayBuffer()).byteLength;
  const count = async (): Promise<number> => [...(await filesBelow(dirname(path))).keys()].length;
  await withDeck(path, { mode: "record" }, async (deck) => {
    for (let i = 0; i < 2; i++) await get(tapeFetch(deck), 600_000);
  });
  const before = await count();
  await withDeck(path, { mode: "extend", unplayed: "ignore" }, (deck) => get(tapeFetch(deck), 500_000));
  expect(await count()).toBeGreaterThanOrEqual(before);
  await withDeck(path, { mode: "replay" }, async (deck) => {
    for (const bytes of [600_000, 500_000, 600_000]) expect(await get(tapeFetch(deck), bytes)).toBe(bytes);
  });
  expect(new Set(trackStates(parseCassette(await readFile(path, "utf8"))).values())).toEqual(new Set(["recorded"]));
});

test("a cassette may not reach out of its folder", async () => {
  const path = scratch.cassette();
  await withDeck(path, { mode: "record" }, (deck) => download(tapeFetch(deck)));
  const secret = join(scratch.folder, "outside.txt");
  await writeFile(secret, "outside");
  const text = await readFile(path, "utf8");
  for (const to of ["../outside.txt", secret, "tape.files/../../outside.txt"]) {
    const cassette = JSON.parse(text);
    const file = { path: to, sha256: createHash("sha256").update("outside").digest("hex"), size: 7 };
    cassette.tracks[0].response.body = { file };
    await writeFile(path, JSON.stringify(cassette));
    await expect(openDeck(path, { mode: "replay" })).rejects.toMatchObject({ code: "cassette-invalid" });
  }
});
