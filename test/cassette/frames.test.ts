import { describe, expect, it, vi } from "vitest";
import type { Chunk } from "../../src/cassette/draft.ts";
import { bodyBytes, frameBody, frameEvents, frameSent, openBody, openFrames } from "../../src/cassette/frames.ts";
import type { Frame } from "../../src/cassette/schema.ts";
import { decodeUtf8, encodeUtf8 } from "../../src/wire/bytes.ts";

const chunksOf = (...parts: (string | Uint8Array)[]): Chunk[] =>
  parts.map((part, i) => ({ at: 10 * (i + 1), bytes: typeof part === "string" ? encodeUtf8(part) : part }));
const frame = (media: string, ...parts: (string | Uint8Array)[]) => frameBody({ chunks: chunksOf(...parts), media });
const SSE = "text/event-stream";

function texts(reader: { next(): Chunk | undefined }): [number, string][] {
  const all: [number, string][] = [];
  for (let chunk = reader.next(); chunk; chunk = reader.next()) all.push([chunk.at, decodeUtf8(chunk.bytes)!]);
  return all;
}

describe("frameBody: what typical bodies look like", () => {
  it("an OpenAI stream: one event a chunk", () => {
    expect(frame(SSE, 'data: {"id":"c1","x":0.5}\n\n', 'data: {"id":"c2"}\n\n', "data: [DONE]\n\n")).toEqual({
      body: [
        { at: 10, sse: { json: { id: "c1", x: 0.5 } } },
        { at: 20, sse: { json: { id: "c2" } } },
        { at: 30, sse: { data: "[DONE]" } },
      ],
    });
  });

  it("an Anthropic stream: padding, a spaced ping, events torn and joined", () => {
    const text =
      'event: message_start\ndata: {"type":"message_start"     }\n\n' +
      'event: ping\ndata: {"type": "ping"}\n\n' +
      'event: message_stop\ndata: {"type":"message_stop" }\n\n';
    expect(frame(SSE, text.slice(0, 30), text.slice(30))).toEqual({
      body: [
        { at: 10, sse: { event: "message_start", json: { type: "message_start" } }, pad: 5, cuts: [[30, 20]] },
        { joined: true, sse: { event: "ping", json: { type: "ping" } }, style: { json: { colon: ": " } } },
        { joined: true, sse: { event: "message_stop", json: { type: "message_stop" } }, pad: 1 },
      ],
    });
  });

  it("a stream of Python's: one style for the body, also for events that fit several", () => {
    expect(frame(SSE, 'data: {"a": 1, "b": 2.0}\n\ndata: {"a": 1}\n\ndata: {"a": 1, "b": 2}\n\n')).toEqual({
      style: { json: { colon: ": ", comma: ", " } },
      body: [
        { at: 10, sse: { json: { a: 1, b: { $number: "2.0" } } } },
        { joined: true, sse: { json: { a: 1 } } },
        { joined: true, sse: { json: { a: 1, b: 2 } } },
      ],
    });
  });

  it("a compact event in a styled body states the default", () => {
    const { body, style } = frame(SSE, 'data: {"a": 1}\n\ndata: {"a": 2}\n\ndata: {"a":3}\n\n');
    expect(style).toEqual({ json: { colon: ": " } });
    expect((body as Frame[])[2]).toEqual({ joined: true, sse: { json: { a: 3 } }, style: {} });
  });

  it("CRLF, a byte order mark, comments, an event that is none, a missing end", () => {
    expect(frame(SSE, "\ufeff: hi\r\n\r\ndata: 1\r\nfoo: 2\r\n\r\n\r\ndata: 3\r\n")).toEqual({
      style: { sse: { newline: "\r\n" } },
      body: [
        { at: 10, text: "\ufeff" },
        { joined: true, sse: { comment: "hi" } },
        { joined: true, text: "data: 1\r\nfoo: 2\r\n\r\n\r\n" },
        { joined: true, sse: { data: "3", ended: "\r\n" } },
      ],
    });
  });

  it("a stream that no content type announced", () => {
    expect(frame("", 'event: a\ndata: {"b":1}\n\n').body).toEqual({ at: 10, sse: { event: "a", json: { b: 1 } } });
  });

  it("an error page where a stream was announced", () => {
    expect(frame(SSE, '{"error": "busy"}')).toEqual({
      style: { json: { colon: ": " } },
      body: { at: 10, json: { error: "busy" } },
    });
    expect(frame(SSE, "<html>\n\n</html>").body).toEqual({ at: 10, text: "<html>\n\n</html>" });
  });

  it("lines of JSON, announced or not, the last without its newline", () => {
    const framed = {
      body: [
        { at: 10, line: { a: 1 } },
        { joined: true, line: { b: 2 }, cuts: [[3, 20]] },
        { joined: true, json: { c: 3 } },
      ],
    };
    expect(frame("application/x-ndjson", '{"a":1}\n{"b', '":2}\n{"c":3}')).toEqual(framed);
    expect(frame("text/plain", '{"a":1}\n{"b', '":2}\n{"c":3}')).toEqual(framed);
  });

  it("stray text between lines of JSON: a frame for each chunk of it", () => {
    expect(frame("application/x-ndjson", '{"a":1}\nhello\nthere\n', "again\n", '{"b":2}\n').body).toEqual([
      { at: 10, line: { a: 1 } },
      { joined: true, text: "hello\nthere\n" },
      { at: 20, text: "again\n" },
      { at: 30, line: { b: 2 } },
    ]);
  });

  it("JSON in one piece, which came with the head", () => {
    const chunks = chunksOf('{"a":1}');
    expect(frameBody({ chunks, media: "application/json" }, { at: 10 })).toEqual({ body: { json: { a: 1 } } });
    expect(frameBody({ chunks: [{ ...chunks[0]!, after: "t2" }] }, { at: 10 })).toEqual({
      body: { after: "t2", json: { a: 1 } },
    });
  });

  it("JSON in several pieces, one of them empty", () => {
    expect(frame("application/json", '{"a"', "", ":1}\n")).toEqual({
      style: { json: { tail: "\n" } },
      body: [
        {
          at: 10,
          json: { a: 1 },
          cuts: [
            [4, 20],
            [4, 30],
          ],
        },
      ],
    });
  });

  it("JSON that cannot be printed again stays text", () => {
    expect(frame("application/json", '{"a":1,"a":2}').body).toEqual({ at: 10, text: '{"a":1,"a":2}' });
  });

  it("text, cut between characters where it can be", () => {
    const smile = encodeUtf8("b😀c");
    expect(frame("text/html", "<a>", smile.slice(0, 3), smile.slice(3)).body).toEqual([
      { at: 10, text: "<a>" },
      { at: 20, text: "b😀c", cuts: [[3, 30]] },
    ]);
  });

  it("bytes, also where some of them are text", () => {
    expect(frame("image/png", "abc", new Uint8Array([0xff, 0xd8])).body).toEqual([
      { at: 10, base64: "YWJj" },
      { at: 20, base64: "/9g=" },
    ]);
  });

  it("no chunk, and empty chunks", () => {
    expect(frameBody({ chunks: [] })).toEqual({});
    expect(frameBody({ chunks: chunksOf("") }, { at: 10 })).toEqual({ body: { text: "" } });
    expect(frame("", "a", "", "").body).toEqual([
      { at: 10, text: "a" },
      { at: 20, text: "" },
      { at: 30, text: "" },
    ]);
  });
});

describe("sidecar files", () => {
  const file = { path: "x.files/1", sha256: "0".repeat(64), size: 300_000 };
  const large = new Uint8Array(300_000).fill(0xff);

  it("hold what is large and not JSON, whole, with the chunks as cuts", () => {
    const stored: Uint8Array[] = [];
    const sidecar = (bytes: Uint8Array) => {
      stored.push(bytes);
      return file;
    };
    const chunks = [0, 100_000].map((start, i) => ({ at: i, bytes: large.slice(start, i ? undefined : 100_000) }));
    const { body } = frameBody({ chunks }, { sidecar });
    expect(body).toEqual([{ at: 0, file, cuts: [[100_000, 1]] }]);
    expect(stored).toEqual([large]);
    const reader = openBody(body, undefined, { sidecar: () => large });
    reader.next()!.bytes.fill(0);
    expect(reader.next()!.bytes).toEqual(large.slice(100_000));
    expect(large[0]).toBe(0xff);
  });

  it("are not made for JSON, for small bodies, or against the store's will", () => {
    const sidecar = vi.fn(() => undefined);
    const list = encodeUtf8(JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i)));
    expect(frameBody({ chunks: [{ at: 0, bytes: list }] }, { sidecar }).body).toHaveProperty("json");
    expect(frameBody({ chunks: [{ at: 0, bytes: large.slice(0, 262_144) }] }, { sidecar }).body).toHaveProperty(
      "base64",
    );
    expect(sidecar).not.toHaveBeenCalled();
    expect(frameBody({ chunks: [{ at: 0, bytes: large }] }, { sidecar }).body).toHaveProperty("base64");
    expect(sidecar).toHaveBeenCalledOnce();
  });

  it("cannot be read without a reader", () => {
    expect(() => bodyBytes({ file }, undefined)).toThrow(/"x\.files\/1".*Pass `sidecar`/);
  });
});

describe("openBody", () => {
  it("gives a frame without a time that of the delivery before", () => {
    const body: Frame[] = [{ text: "a" }, { at: 7, text: "bc", cuts: [[1, 9]] }, { text: "d" }];
    expect(texts(openBody(body, undefined, { at: 5 }))).toEqual([
      [5, "a"],
      [7, "b"],
      [9, "c"],
      [9, "d"],
    ]);
    expect(texts(openBody({ json: { a: 1 } }, { json: { colon: ": " } }))).toEqual([[0, '{"a": 1}']]);
  });

  it("drops cuts past the end of an edited frame and says so", () => {
    const warn = vi.fn();
    const body: Frame[] = [
      { at: 1, text: "a" },
      {
        joined: true,
        text: "bcd",
        cuts: [
          [1, 2],
          [9, 3],
        ],
      },
    ];
    expect(texts(openBody(body, undefined, { warn }))).toEqual([
      [1, "ab"],
      [2, "cd"],
    ]);
    expect(warn.mock.calls).toEqual([
      ["Frame 2: its cut at byte 9 was dropped, because the frame has only 3 bytes. Move the cut or take it out."],
    ]);
  });

  it("encodes a frame only when its chunk is asked for", () => {
    const reader = openBody([{ text: "a" }, { base64: "not base64" }], undefined);
    expect(decodeUtf8(reader.next()!.bytes)).toBe("a");
    expect(() => reader.next()).toThrow(/`base64` is not base64.*"not base64"/);
  });

  it("refuses a value, which is not bytes", () => {
    expect(() => openBody({ value: 1 }, undefined).next()).toThrow(/`value`, which stands for no bytes/);
  });
});

describe("conversations", () => {
  it("a process: lines of JSON, stray text, torn lines", () => {
    const sent = [
      { at: 1, from: "stdout", bytes: encodeUtf8('{"type":"system"}\n{"ty') },
      { at: 2, from: "stdin", bytes: encodeUtf8('{"q":1}\n') },
      { at: 3, from: "stderr", bytes: encodeUtf8("warning: slow\n") },
      { at: 4, from: "stdout", bytes: encodeUtf8('pe":"result"}\nbye\n') },
    ] as const;
    const { frames, style } = frameSent(sent);
    expect(frames).toEqual([
      { at: 1, from: "stdout", line: { type: "system" } },
      { joined: true, from: "stdout", line: { type: "result" }, cuts: [[4, 4]] },
      { at: 2, from: "stdin", line: { q: 1 } },
      { at: 3, from: "stderr", text: "warning: slow\n" },
      { joined: true, from: "stdout", text: "bye\n" },
    ]);
    const reader = openFrames(frames, style);
    expect([reader.next(), reader.next(), reader.next(), reader.next(), reader.next()]).toEqual([...sent, undefined]);
  });

  it("a WebSocket: text and binary messages", () => {
    const sent = [
      { at: 1, from: "client", bytes: encodeUtf8('{"op": 1}') },
      { at: 2, from: "server", bytes: encodeUtf8("2probe") },
      { at: 3, from: "server", bytes: encodeUtf8('{"op": 2}'), binary: true },
      { at: 4, from: "client", bytes: new Uint8Array([0xff]), binary: true },
    ] as const;
    const { frames, style } = frameSent(sent);
    expect(style).toEqual({ json: { colon: ": " } });
    expect(frames).toEqual([
      { at: 1, from: "client", json: { op: 1 } },
      { at: 2, from: "server", text: "2probe" },
      { at: 3, from: "server", binary: true, json: { op: 2 } },
      { at: 4, from: "client", base64: "/w==" },
    ]);
  });

  it("a frame of nobody's is refused", () => {
    expect(() => openFrames([{ text: "a" }], undefined).next()).toThrow(/Frame 1 does not say who sent it/);
  });
});

it("frameEvents keeps values as they are and texts as trees where that is exact", () => {
  expect(
    frameEvents([
      { at: 1, value: { $date: "x" } },
      { at: 2, after: "t2", text: '{"a": 1.0 }' },
      { at: 3, text: "{'a'}" },
    ]),
  ).toEqual([
    { at: 1, value: { $date: "x" } },
    { at: 2, after: "t2", json: { a: { $number: "1.0" } }, style: { json: { colon: ": " } }, pad: 1 },
    { at: 3, text: "{'a'}" },
  ]);
});
