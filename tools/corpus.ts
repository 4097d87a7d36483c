import { existsSync } from "node:fs";
import { contentText } from "../src/cassette/content.ts";
import type { Chunk } from "../src/cassette/draft.ts";
import { frameBody, openBody } from "../src/cassette/frames.ts";
import { parseCassette } from "../src/cassette/parse.ts";
import { formatCassette } from "../src/cassette/print.ts";
import type { Body, Cassette, Frame, Style } from "../src/cassette/schema.ts";
import { equalBytes } from "../src/wire/bytes.ts";
import { whyNoTree } from "./corpus-fallback.ts";
import { type Payload, readPayloads } from "./corpus-payloads.ts";
import { emptyRow, type Findings, type Row, report, sumOfBodies } from "./corpus-report.ts";

/**
 * `npm run corpus -- FOLDER`: passes every body of a folder of real recordings through the frames of a cassette, in many
 * chunkings, and a printed and parsed cassette. Exit code 1: a byte or a boundary differs, or less than 99 % of the JSON
 * that programs printed is shown as trees. 2: no folder.
 */

const TREES_WANTED = 99;

const rows = new Map<string, Row>();
const fallbacks: [place: string, why: string][] = [];
const differences: string[] = [];
const skipped: [place: string, why: string][] = [];

/** A generator of numbers that gives the same ones in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function tear(bytes: Uint8Array, next: (offset: number) => number): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = 0, at = 0; start < bytes.length; at++) {
    const size = next(start);
    chunks.push({ at, bytes: bytes.slice(start, start + size) });
    start += size;
  }
  return chunks;
}

function chunkings(bytes: Uint8Array, seed: number): { name: string; chunks: Chunk[]; stored: boolean }[] {
  const random = randomNumbers(seed);
  return [
    { name: "whole", chunks: [{ at: 0, bytes }], stored: true },
    ...[1, 2, 3, 4, 5, 6, 7].map((size) => ({
      name: `tears of ${size}`,
      chunks: tear(bytes, () => size),
      stored: false,
    })),
    { name: "tears of 0 to 400", chunks: tear(bytes, () => random(401)), stored: true },
    {
      name: "tears of 0 to 7",
      chunks: [...tear(bytes, () => random(8)), { at: 1e6, bytes: new Uint8Array() }],
      stored: false,
    },
  ];
}

function sameChunks(body: Body | undefined, style: Style | undefined, chunks: readonly Chunk[]): boolean {
  const reader = openBody(body, style);
  for (const expected of chunks) {
    const chunk = reader.next();
    if (chunk?.at !== expected.at || !equalBytes(chunk.bytes, expected.bytes)) return false;
  }
  return reader.next() === undefined;
}

function throughCassette(framed: { body?: Body; style?: Style }): {
  body?: Body | undefined;
  style?: Style | undefined;
} {
  const cassette: Cassette = {
    wiretape: 1,
    tracks: [
      {
        id: "t1",
        kind: "http",
        at: 0,
        request: { method: "GET", url: "http://corpus.invalid/" },
        response: { at: 0, status: 200, ...framed },
      },
    ],
  };
  const text = formatCassette(cassette);
  const parsed = parseCassette(text);
  if (formatCassette(parsed) !== text) differences.push("printing what was parsed changed the text");
  const track = parsed.tracks[0];
  return (track?.kind === "http" && track.response) || {};
}

function rowOf(kind: string): Row {
  let row = rows.get(kind);
  if (row === undefined) rows.set(kind, (row = emptyRow()));
  return row;
}

function check(payload: Payload, index: number): void {
  const row = rowOf(payload.kind);
  row.payloads++;
  row.bytes += payload.bytes.length;
  let exact = true;
  for (const { name, chunks, stored } of chunkings(payload.bytes, index)) {
    const framed = frameBody({ chunks, media: payload.media });
    const same =
      sameChunks(framed.body, framed.style, chunks) &&
      (!stored || ((read) => sameChunks(read.body, read.style, chunks))(throughCassette(framed)));
    if (same) continue;
    exact = false;
    differences.push(`${payload.place} in ${name}`);
  }
  if (exact) row.exact++;
  const framed = frameBody({ chunks: [{ at: 0, bytes: payload.bytes }], media: payload.media });
  for (const frame of framed.body === undefined ? [] : ([framed.body].flat() as Frame[])) count(row, frame, payload);
}

function count(row: Row, frame: Frame, payload: Payload): void {
  if (frame.sse !== undefined) row.sse++;
  else if (frame.line !== undefined) row.line++;
  else if (frame.json !== undefined) row.json++;
  else row.plain++;
  if ((frame.sse?.json ?? frame.line ?? frame.json) !== undefined) row.trees++;
  for (const text of plainTexts(frame, payload)) {
    const why = whyNoTree(text);
    if (why === undefined) continue;
    row.fallbacks++;
    fallbacks.push([`${payload.kind.padEnd(18)} ${payload.place}`, `${why}: ${JSON.stringify(text.slice(0, 60))}`]);
  }
}

/** The texts of a frame that is no tree which might have been one. */
function plainTexts(frame: Frame, payload: Payload): string[] {
  if (frame.sse?.data !== undefined) return [frame.sse.data];
  const text = frame.base64 === undefined ? contentText(frame, undefined) : undefined;
  if (text === undefined || frame.text === undefined) return [];
  if (payload.media === "application/x-ndjson") return text.split("\n");
  if (payload.media !== "text/event-stream" && !/^(?:data|event|id):/.test(text)) return [text];
  const data = text.split(/(?:\r\n|\r|\n){2}/).map((event) =>
    event
      .split(/\r\n|\r|\n/)
      .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []))
      .join("\n"),
  );
  return [text, ...data];
}

function main(folder: string | undefined): number {
  if (folder === undefined || !existsSync(folder)) {
    const what = folder === undefined ? "No folder was given." : `There is no folder ${folder}.`;
    console.error(
      `${what} Use: npm run corpus -- FOLDER, a folder of recordings (SSE, JSONL, HAR, VCR, nock) by kind.`,
    );
    return 2;
  }
  const payloads = readPayloads(folder, (place, why) => skipped.push([place, why]));
  if (payloads.length === 0) {
    console.error(`There are no recordings in ${folder}: it has to hold folders of them, one for each kind.`);
    return 2;
  }
  for (const [index, payload] of payloads.entries()) check(payload, index + 1);
  const findings: Findings = { rows, fallbacks, skipped, differences };
  console.log(report(findings));
  const { trees, fallbacks: others } = sumOfBodies(findings);
  return differences.length > 0 || trees * 100 < TREES_WANTED * (trees + others) ? 1 : 0;
}

process.exitCode = main(process.argv[2]);
