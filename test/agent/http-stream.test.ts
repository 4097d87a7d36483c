import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import type { AgentTransportWarning } from "../../src/agent/http-watch.ts";
import { createSseReader, rawEventText } from "../../src/agent/sse-events.ts";
import { ReplayStalled } from "../../src/errors.ts";
import { rawServer } from "../support/raw-server.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

async function watching(pieces: Iterable<string | Uint8Array | "destroy">, pauseMs = 1) {
  const server = await rawServer(() => pieces, pauseMs);
  closing.push(server.close);
  const warnings: AgentTransportWarning[] = [];
  const transport = createHttpAgentTransport({ baseUrl: server.url, onWarning: (warning) => warnings.push(warning) });
  const events: unknown[] = [];
  const texts: unknown[] = [];
  let error: unknown;
  try {
    for await (const event of transport.watchThread("t")) {
      events.push(event);
      texts.push(rawEventText(event));
    }
  } catch (thrown) {
    error = thrown;
  }
  return { events, texts, warnings, error: error as Error | undefined };
}

describe("the framing", () => {
  test("torn characters, every line end, several data lines, comments, other fields, a byte order mark", async () => {
    const stream = Buffer.from(
      `\ufeffdata: {"type":"a","x":"日本🎈"}\r\n\r\n: keep-alive\r\n\r\nid: 7\rretry: 1\rdata:{"type":\rdata: "b"}\r\r\n\n` +
        `event: message\ndata: {"type":"c"}\n: inside\nunknown\n\ndata: {"type":"d","bom":"\ufeff"}\n\n`,
    );
    const { events, texts, warnings, error } = await watching(
      [HEAD, ...Array.from(stream, (byte) => Uint8Array.of(byte))],
      0,
    );
    expect(error).toBe(undefined);
    expect(events).toEqual([{ type: "a", x: "日本🎈" }, { type: "b" }, { type: "c" }, { type: "d", bom: "\ufeff" }]);
    expect(texts).toEqual([
      '{"type":"a","x":"日本🎈"}',
      '{"type":\n"b"}',
      '{"type":"c"}',
      '{"type":"d","bom":"\ufeff"}',
    ]);
    expect(warnings).toEqual([]);
  });

  test("is read the same over any chunk boundaries, and as the standard reads it", () => {
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const value = fc.string({ unit: fc.constantFrom("a", " ", ":", "é", "日", "🎈", "\ufeff", "\u2028", "{", "data") });
    const line = fc.oneof(
      value.map((text) => `data:${text}`),
      value.map((text) => `data: ${text}`),
      value.map((text) => `:${text}`),
      value.map((text) => `event: ${text}`),
      fc.constantFrom("data", "id: 1", "", "", "datax: 1", "event", "\ufeffdata: 1"),
    );
    const stream = fc.array(fc.tuple(line, end)).map((lines) => lines.map((pair) => pair.join("")).join(""));
    fc.assert(
      fc.property(stream, fc.boolean(), fc.array(fc.nat(12)), (text, bom, sizes) => {
        const bytes = Buffer.from((bom ? "\ufeff" : "") + text);
        const reader = createSseReader();
        const messages = [];
        let from = 0;
        for (const size of sizes) messages.push(...reader.push(bytes.subarray(from, (from += size))));
        messages.push(...reader.push(bytes.subarray(from)));
        expect(messages).toEqual(asTheStandardReads(bytes.toString()));
      }),
      { numRuns: 2000 },
    );
  });

  test("keeps no view of a chunk that its reader may use again", () => {
    const reader = createSseReader();
    const chunk = Buffer.from("data: first");
    reader.push(chunk);
    chunk.fill("x");
    expect(reader.push(Buffer.from("\n\n"))).toEqual([{ name: undefined, data: "first", intact: true }]);
  });

  test("an event that never ends does not fill the memory", () => {
    const reader = createSseReader(100);
    for (let i = 0; i < 100; i++) reader.push(Buffer.from(": a comment\n"));
    for (let i = 0; i < 100; i++) reader.push(Buffer.from("data: short\n\n"));
    reader.push(new Uint8Array(90));
    expect(() => reader.push(new Uint8Array(90))).toThrow("longer than 100 bytes");
    const lines = createSseReader(100);
    expect(() => lines.push(Buffer.from("data: short\n".repeat(20)))).toThrow("longer than 100 bytes");
  });
});

/** The standard's algorithm, told plainly over the whole text. */
function asTheStandardReads(text: string): unknown[] {
  const messages: unknown[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  lines.pop(); // what no line end follows
  let data: string[] = [];
  let name: string | undefined;
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) messages.push({ name, data: data.join("\n"), intact: true });
      data = [];
      name = undefined;
      continue;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) as unknown as [string, string, string?];
    if (field === "data") data.push(value);
    if (field === "event") name = value;
  }
  return messages;
}

describe("what is malformed", () => {
  test.each([
    ["not JSON", 'data: {"type":"run.upda\n\n', /it is not JSON/],
    ["empty", "data:\n\n", /it is not JSON/],
    ["a list", "data: []\n\n", /it is not a JSON object/],
    ["a number", "data: 1\n\n", /it is not a JSON object/],
    ["no type", "data: {}\n\n", /it has no "type" that is a text/],
    ["a type that is no text", 'data: {"type":1}\n\n', /it has no "type"/],
    ["not UTF-8", 'data: {"type":"\xff"}\n\n', /it is not UTF-8/],
    ["an error event that tells nothing", "event: error\ndata: oops\n\n", /it is not JSON/],
  ])("%s: state.changed stands for it, and the stream goes on", async (_, bad, fault) => {
    const good = 'data: {"type":"a"}\n\n';
    const { events, texts, warnings, error } = await watching([HEAD, good, bad, good]);
    expect(error).toBe(undefined);
    expect(events).toEqual([{ type: "a" }, { type: "state.changed" }, { type: "a" }]);
    expect(texts).toEqual(['{"type":"a"}', undefined, '{"type":"a"}']);
    expect(warnings).toEqual([
      { code: "malformed-event", message: expect.stringMatching(fault), text: expect.any(String) },
    ]);
    expect(warnings[0]?.message).toContain("GET /threads/t/watch");
  });

  test("a stream that ends in the middle of an event ends, and it is told", async () => {
    for (const torn of ['data: {"type":"b"}\n', "data: {", "da"]) {
      const { events, warnings, error } = await watching([HEAD, 'data: {"type":"a"}\n\n', torn]);
      expect([events, error]).toEqual([[{ type: "a" }], undefined]);
      expect(warnings).toMatchObject([{ code: "torn-event" }]);
    }
  });

  test("a connection that breaks is an error that says so", async () => {
    const chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const { events, error } = await watching([chunked, '14\r\ndata: {"type":"a"}\n\n\r\n', "destroy"], 20);
    expect(events).toEqual([{ type: "a" }]);
    expect(error?.message).toBe(
      "The stream of GET /threads/t/watch broke off: other side closed. A new watch begins with a snapshot.",
    );
    expect(error?.cause).toBeInstanceOf(TypeError);
  });

  test("a violation of the tape in the middle of a stream keeps its class", async () => {
    const violation = new ReplayStalled("Held for ever.");
    const fetch = async (): Promise<Response> => {
      const body = new ReadableStream({ start: (controller) => controller.error(violation) });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const watch = createHttpAgentTransport({ baseUrl: "http://h", fetch }).watchThread("t");
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toBe(violation);
  });

  test("return() closes a connection that has not even answered", async () => {
    let gone = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    let asked = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const server = await rawServer((_, socket) => {
      socket.on("close", gone);
      asked();
      return Array(2_000).fill(""); // nothing, for seconds
    });
    closing.push(server.close);
    const watch = createHttpAgentTransport({ baseUrl: server.url }).watchThread("t")[Symbol.asyncIterator]();
    const next = watch.next();
    await arrived;
    const started = performance.now();
    await watch.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await closed;
    expect(performance.now() - started).toBeLessThan(1_500);
  });

  test("answers that are no event stream, and errors that are not ours", async () => {
    const answer = (status: string, type: string, body: string) =>
      watching([`HTTP/1.1 ${status}\r\n${type}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`]);
    const html = await answer("200 OK", "content-type: text/html\r\n", "<h1>My app</h1>");
    expect(html.error?.message).toBe(
      "GET /threads/t/watch was answered with HTTP 200 OK as text/html, not with an event stream. Is baseUrl right? Its body begins: <h1>My app</h1>",
    );
    const bad = await answer("502 Bad Gateway", "", `<p>${"x".repeat(500)}`);
    expect(bad.error).toMatchObject({ name: "Error", status: 502 });
    expect(bad.error?.message).toMatch(/HTTP 502 Bad Gateway, and not by an agent server\. .*<p>x{197}…$/);
    const empty = await answer("503 Service Unavailable", "", "");
    expect(empty.error?.message).toContain(
      "HTTP 503 Service Unavailable, and not by an agent server; its body is empty",
    );
    const json = await answer("403 Forbidden", "", '{"error":{"message":"Not yours.","code":"forbidden"}}');
    expect(json.error).toMatchObject({ name: "Error", message: "Not yours.", code: "forbidden", status: 403 });
  });

  test("an answer that should be JSON and is not", async () => {
    const server = await rawServer(() => ["HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>"]);
    closing.push(server.close);
    const transport = createHttpAgentTransport({ baseUrl: server.url });
    await expect(transport.getManifest()).rejects.toThrow(
      "GET /manifest was answered with HTTP 200 OK, but its body is not JSON. Is baseUrl right? Its body begins: <html>",
    );
    await expect(transport.readFile("f")).rejects.toThrow("GET /files/f was answered without the header x-agent-file");
  });
});
