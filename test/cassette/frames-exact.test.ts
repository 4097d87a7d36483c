import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONTENT_KEYS, encodeContent } from "../../src/cassette/content.ts";
import type { Chunk, SentChunk } from "../../src/cassette/draft.ts";
import { bodyBytes, frameBody, frameSent, openBody, openFrames } from "../../src/cassette/frames.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Frame, Gate, HttpTrack, StoredResponse } from "../../src/cassette/schema.ts";
import { concatBytes, encodeUtf8 } from "../../src/wire/bytes.ts";
import { encodeJson, type JsonStyle } from "../../src/wire/json.ts";
import { encodeEvent } from "../../src/wire/sse.ts";

/** What is promised of every body: the same bytes, in the same chunks, at the same times, behind the same gates. */

const jsonStyles = fc.record<JsonStyle>({
  colon: fc.constantFrom(":", ": "),
  comma: fc.constantFrom(",", ", "),
  indent: fc.constantFrom(0, 0, 2),
  escape: fc.constantFrom("none", "ascii", "html", "slash", "ascii-slash", "html-quote"),
});
const json = fc
  .tuple(fc.jsonValue({ maxDepth: 3 }), jsonStyles, fc.constantFrom(0, 0, 0, 3))
  .map(([tree, style, pad]) => encodeJson(tree as never, style, pad));
const lineEnds = fc.constantFrom("\n", "\n", "\r\n", "\r") as fc.Arbitrary<"\n" | "\r\n" | "\r">;
const events = fc
  .record({
    event: fc.record(
      { comment: fc.string(), event: fc.string(), id: fc.string(), retry: fc.nat(), data: fc.oneof(json, fc.string()) },
      { requiredKeys: [] },
    ),
    ended: fc.constantFrom(undefined, undefined, undefined, "", "\n") as fc.Arbitrary<"" | "\n" | undefined>,
    newline: lineEnds,
    space: fc.boolean(),
  })
  .map(({ event, ended, newline, space }) => encodeEvent({ ...event, ended }, { sse: { newline, space } }));
const torn = fc.constantFrom("", "\n", "\r", "\ufeff", "data:", "é😀", "{", '{"a":1}', "[DONE]", ": ping");
const texts = fc.oneof(
  fc.array(fc.oneof({ weight: 5, arbitrary: events }, torn), { maxLength: 8 }).map((parts) => parts.join("")),
  fc
    .array(
      fc.oneof({ weight: 5, arbitrary: fc.tuple(json, fc.constantFrom("\n", "\n", "\r\n", "")) }, fc.tuple(torn)),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.flat().join("")),
  json,
  fc.string({ unit: "binary" }),
);
const marked = fc.tuple(fc.constantFrom("", "", "", "\ufeff"), texts).map((parts) => encodeUtf8(parts.join("")));
const bytes = fc.oneof(
  { weight: 4, arbitrary: marked },
  fc.uint8Array({ maxLength: 60 }),
  fc.tuple(marked, fc.uint8Array({ maxLength: 4 }), marked).map(concatBytes),
);
const gates = fc.constantFrom<Gate | undefined>(undefined, undefined, undefined, "t2", ["t2", "t3"], {
  kind: "request",
});
const media = fc.constantFrom(
  undefined,
  "text/event-stream; charset=utf-8",
  "application/x-ndjson",
  "application/json",
  "text/plain",
);

/** Chunks over bytes: torn anywhere, empty ones too. */
const chunked = fc
  .tuple(bytes, fc.array(fc.tuple(fc.nat(), gates), { maxLength: 12 }), gates)
  .map(([whole, tears, gate]): Chunk[] => {
    const offsets = tears.map(([at]) => at % (whole.length + 1)).sort((a, b) => a - b);
    return [0, ...offsets].map((start, i) => {
      const piece = whole.slice(start, offsets[i] ?? whole.length);
      const after = i === 0 ? gate : tears[i - 1]![1];
      return { at: 3 + i * 2, bytes: piece, ...(after !== undefined && { after }) };
    });
  });

function drain<T>(reader: { next(): T | undefined }): T[] {
  const all: T[] = [];
  for (let item = reader.next(); item !== undefined; item = reader.next()) all.push(item);
  return all;
}

function throughCassette(response: StoredResponse): StoredResponse {
  const request = { method: "GET", url: "http://a.example/" };
  // The gates of the chunks name tracks, which have to be there.
  const others = ["t2", "t3"].map(
    (id) => ({ id, kind: "http", at: 0, request, response: { at: 0, status: 204 } }) as const,
  );
  const tracks = [{ id: "t1", kind: "http", at: 0, request, response } as const, ...others];
  const track = parseCassette(formatCassette({ wiretape: 1, tracks })).tracks[0];
  return (track as HttpTrack).response!;
}

describe("a framed body", () => {
  it("plays the same chunks at the same times behind the same gates", () => {
    fc.assert(
      fc.property(chunked, media, fc.constantFrom(undefined, 0, 3), (chunks, type, at) => {
        const { body, style } = frameBody({ chunks, media: type }, { at });
        expect(drain(openBody(body, style, { at }))).toEqual(chunks);
        expect(bodyBytes(body, style)).toEqual(concatBytes(chunks.map((chunk) => chunk.bytes)));
      }),
      { numRuns: 4000 },
    );
  });

  it("survives a printed and parsed cassette, and each frame holds one content", () => {
    fc.assert(
      fc.property(chunked, media, (chunks, type) => {
        const response = throughCassette({ at: 3, status: 200, ...frameBody({ chunks, media: type }, { at: 3 }) });
        expect(drain(openBody(response.body, response.style, { at: 3 }))).toEqual(chunks);
        for (const frame of [response.body].flat())
          expect(Object.keys(frame!).filter((key) => (CONTENT_KEYS as readonly string[]).includes(key))).toHaveLength(
            1,
          );
      }),
      { numRuns: 500 },
    );
  });

  it("plays the same bytes again after a reader scribbled on them and gave them away", () => {
    fc.assert(
      fc.property(chunked, media, (chunks, type) => {
        const { body, style } = frameBody({ chunks, media: type });
        const reader = openBody(body, style);
        const first: Uint8Array[] = [];
        for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) {
          first.push(chunk.bytes.slice());
          chunk.bytes.fill(0x21);
          if (chunk.bytes.length > 0) structuredClone(chunk.bytes, { transfer: [chunk.bytes.buffer as ArrayBuffer] });
        }
        expect(first).toEqual(chunks.map((chunk) => chunk.bytes));
        expect(drain(openBody(body, style))).toEqual(chunks);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a framed conversation", () => {
  const senders = fc.constantFrom<SentChunk["from"]>("stdin", "stdout", "stderr");

  it("plays each sender's chunks exactly, in the order of their times, also where two have the same", () => {
    fc.assert(
      fc.property(chunked, chunked, fc.array(senders), fc.constantFrom(1, 2, 4, 100), (a, b, froms, slow) => {
        const sent = [...a, ...b].map(
          (chunk, i): SentChunk => ({
            ...chunk,
            at: Math.floor(i / slow),
            from: froms[i] ?? (i < a.length ? "stdout" : "stdin"),
          }),
        );
        const { frames, style } = frameSent(sent);
        expect(drain(openFrames(frames, style))).toEqual(sent);
      }),
      { numRuns: 1000 },
    );
  });

  it("plays each message exactly, text as text and binary as binary", () => {
    const message = fc.tuple(bytes, fc.boolean(), gates, fc.constantFrom("client", "server"));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const sent = messages.map(([payload, wantsBinary, after, from], i): SentChunk => {
          const binary = wantsBinary || new TextDecoder().decode(payload).includes("\ufffd");
          return {
            at: i,
            from: from as "client",
            bytes: payload,
            ...(after !== undefined && { after }),
            ...(binary && { binary }),
          };
        });
        const { frames, style } = frameSent(sent);
        expect(frames).toHaveLength(sent.length);
        expect(drain(openFrames(frames, style))).toEqual(sent);
      }),
      { numRuns: 1000 },
    );
  });
});

it("every frame's own bytes are those it stands for, alone", () => {
  fc.assert(
    fc.property(chunked, media, (chunks, type) => {
      const { body, style } = frameBody({ chunks, media: type });
      const frames: Frame[] = body === undefined ? [] : ([body].flat() as Frame[]);
      expect(concatBytes(frames.map((frame) => encodeContent(frame, style)))).toEqual(bodyBytes(body, style));
    }),
    { numRuns: 300 },
  );
});
