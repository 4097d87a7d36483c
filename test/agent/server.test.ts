import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { routeNames } from "../../src/agent/routes.ts";
import { type ServeAgentOptions, serveAgentTransport } from "../../src/agent/server.ts";
import { keepEventText, rawEventText } from "../../src/agent/sse-events.ts";
import type { AgentClientTransport } from "../../src/agent/transport.ts";
import { memoryTransport } from "./memory-transport.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function served(options: ServeAgentOptions = {}, memory = memoryTransport()) {
  const server = await serveAgentTransport(memory, options);
  closing.push(server.close);
  return { memory, server, transport: createHttpAgentTransport({ baseUrl: server.url }) };
}

async function until(so: () => boolean): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const turns = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a request by hand; `text` is what has come of the answer so far. */
async function raw(url: string, request: string): Promise<{ readonly text: string; readonly socket: Socket }> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  closing.push(() => socket.destroy());
  await once(socket, "connect");
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
  });
  socket.on("error", () => socket.destroy());
  socket.write(request);
  return {
    socket,
    get text() {
      return text;
    },
  };
}

describe("what a client can get wrong", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, string, RequestInit, number, string, string | RegExp]>([
    ["an unknown route", "/thread/t", {}, 404, "unknown-route", "There is no route GET /thread/t."],
    [
      "a wrong method",
      "/threads/t",
      { method: "PUT" },
      405,
      "wrong-method",
      "/threads/t does not take PUT, but GET, PATCH, DELETE.",
    ],
    [
      "bad JSON",
      "/threads/t/send",
      { method: "POST", headers: json, body: "{" },
      400,
      "invalid-json",
      /^The body is not JSON: /,
    ],
    [
      "no object",
      "/threads/t/send",
      { method: "POST", headers: json, body: "[]" },
      400,
      "invalid-body",
      "The body must be a JSON object.",
    ],
    [
      "no text",
      "/threads/t/send",
      { method: "POST", headers: json, body: '{"text":1}' },
      400,
      "invalid-body",
      'The body must have "text", as a text.',
    ],
    [
      "nothing of much",
      "/threads/t/tool-data",
      { method: "POST", headers: json, body: '{"name":"n"}' },
      400,
      "invalid-body",
      'The body must have "runId", "messageId", "toolCallId", as texts.',
    ],
    [
      "not UTF-8",
      "/threads/t/send",
      { method: "POST", headers: json, body: Uint8Array.of(0x7b, 0xff) },
      400,
      "invalid-json",
      /not UTF-8/,
    ],
    [
      "another type",
      "/threads/t/send",
      { method: "POST", body: '{"text":"x"}' },
      415,
      "not-json",
      /^The body has content type text\/plain/,
    ],
    ["a bad path", "/threads/%ff", {}, 400, "invalid-path", '"%ff" in the path is not percent-encoded UTF-8.'],
    [
      "a bad flag",
      "/threads/t/watch?initial=no",
      {},
      400,
      "invalid-query",
      '"initial" in the query must be true or false, not "no".',
    ],
    ["no filename", "/files", { method: "POST", body: "x" }, 400, "invalid-query", /must have "filename"/],
    [
      "bad metadata",
      "/files?filename=x&metadata=[]",
      { method: "POST", body: "x" },
      400,
      "invalid-query",
      /must be a JSON object, not \[\]/,
    ],
    [
      "too large a body",
      "/files?filename=x",
      { method: "POST", body: "x".repeat(1001) },
      413,
      "body-too-large",
      /longer than 1000 bytes/,
    ],
    ["a file that is not there", "/files/none", {}, 404, "", 'There is no file "none".'],
  ])("%s", async (_, path, init, status, code, message) => {
    const { server } = await served({ maxBodyBytes: 1000 });
    const response = await fetch(server.url + path, init);
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect([response.status, error.code ?? ""]).toEqual([status, code]);
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
    expect(response.headers.get("content-type")).toBe("application/json");
    if (status === 405) expect(response.headers.get("allow")).toBe("GET, PATCH, DELETE");
    expect(error.routes).toEqual(code === "unknown-route" ? routeNames : undefined);
  });

  test("a body that goes on and on is answered all the same, declared or not", async () => {
    const { memory, server, transport } = await served({ maxBodyBytes: 1000 });
    const large = { filename: "x", mediaType: "a/b", body: new Blob([new Uint8Array(30_000_000)]) };
    await expect(transport.uploadFile(large)).rejects.toMatchObject({ status: 413, code: "body-too-large" });
    const piece = new Uint8Array(64 * 1024);
    let left = 300;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect((await fetch(`${server.url}/files?filename=x`, init)).status).toBe(413);
    expect(await transport.listThreads()).toHaveLength(2);
    expect(memory.calls).toEqual([["listThreads"]]);
  });

  test("ids of the body do not displace those of the path; an empty body is an empty object", async () => {
    const { memory, server } = await served();
    const body = JSON.stringify({ text: "x", threadId: "other", __proto__: 1 });
    await fetch(`${server.url}/threads/t/send`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect((await fetch(`${server.url}/threads/t/retry`, { method: "POST" })).status).toBe(202);
    expect(memory.calls).toEqual([
      ["send", { text: "x", threadId: "t" }],
      ["retry", { threadId: "t" }],
    ]);
  });

  test("an answer that is not JSON is an error of the transport's", async () => {
    const memory = memoryTransport();
    const { transport } = await served({}, { ...memory, getManifest: async () => 1n as never } as never);
    await expect(transport.getManifest()).rejects.toMatchObject({ status: 500, name: "TypeError" });
    const { transport: nothing } = await served({}, {
      ...memory,
      getManifest: async () => undefined as never,
    } as never);
    await expect(nothing.getManifest()).rejects.toThrow(
      "The served transport answered with something that JSON does not have.",
    );
  });

  test("a client that leaves in the middle of its body leaves nothing behind", async () => {
    const { memory, server, transport } = await served();
    const client = await raw(
      server.url,
      "POST /files?filename=x HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nabc",
    );
    await turns(20);
    client.socket.destroy();
    await turns(20);
    expect(memory.calls).toEqual([]);
    expect(await transport.listThreads()).toHaveLength(2);
  });
});

describe("a watch on the wire", () => {
  test("has its head at once, one data field an event, and comments while it is quiet", async () => {
    const { memory, server } = await served({ heartbeatMs: 30 });
    const client = await raw(server.url, "GET /threads/t/watch?initial=false HTTP/1.1\r\nhost: h\r\n\r\n");
    await until(() => client.text.includes("\r\n\r\n"));
    expect(client.text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    for (const header of ["content-type: text/event-stream", "cache-control: no-cache", "x-accel-buffering: no"])
      expect(client.text).toContain(`\r\n${header}\r\n`);
    memory.push("t", { type: "a" });
    await until(() => client.text.includes(": keep-alive\n\n"));
    expect(client.text).toContain('data: {"type":"a"}\n\n');
    memory.endWatches("t", new Error("No more."));
    await until(() => client.text.endsWith("0\r\n\r\n"));
    expect(client.text).toContain(
      'event: error\ndata: {"error":{"name":"Error","message":"No more.","status":500}}\n\n',
    );
  });

  test("an event that has a text of its own is sent with it, also through a second server", async () => {
    const { memory, server, transport } = await served();
    const { transport: second } = await served({}, transport as never);
    const texts = ['{ "type": "a" }', '{"type":\n"b"}', ' {"type":"c","n":1.0}'];
    const watch = second.watchThread("t", { includeInitial: false })[Symbol.asyncIterator]();
    const first = watch.next();
    await until(() => memory.watchers === 1);
    for (const text of texts) memory.push("t", keepEventText(JSON.parse(text), text));
    const events = [await first, await watch.next(), await watch.next()].map(({ value }) => value as object);
    expect(events.map(rawEventText)).toEqual(texts);
    await watch.return?.();
    await until(() => memory.watchers === 0);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("many at once, each with its own thread", async () => {
    const { memory, transport } = await served();
    const read = async (id: string): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for await (const event of transport.watchThread(id, { includeInitial: false })) seen.push(event);
      return seen;
    };
    const reading = Array.from({ length: 50 }, (_, i) => read(`t${i % 10}`));
    await until(() => memory.watchers === 50);
    for (let n = 0; n < 20; n++) for (let i = 0; i < 10; i++) memory.push(`t${i}`, { type: "n", n, i });
    for (let i = 0; i < 10; i++) memory.endWatches(`t${i}`);
    for (const [i, seen] of (await Promise.all(reading)).entries())
      expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => ({ type: "n", n, i: i % 10 })));
  });

  test("return(), a break and an abort close the connection at once, also while an event is awaited", async () => {
    const { memory, transport } = await served();
    const returned = transport.watchThread("t", { includeInitial: false })[Symbol.asyncIterator]();
    const pending = [returned.next(), returned.next()];
    await until(() => memory.watchers === 1);
    await returned.return?.();
    expect(await Promise.all(pending)).toEqual(pending.map(() => ({ done: true, value: undefined })));
    await until(() => memory.watchers === 0);

    for await (const event of transport.watchThread("t")) {
      expect(event.type).toBe("snapshot");
      break;
    }
    await until(() => memory.watchers === 0);

    const abort = new AbortController();
    const aborted = transport.watchThread("t", { signal: abort.signal })[Symbol.asyncIterator]();
    await aborted.next();
    const waiting = aborted.next();
    abort.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await until(() => memory.watchers === 0);
    const calls = memory.calls.length;
    const late = transport.watchThread("t", { signal: abort.signal })[Symbol.asyncIterator]();
    expect(await late.next()).toEqual({ done: true, value: undefined });
    expect(memory.calls).toHaveLength(calls);
  });

  test("a fetch that knows no signals is closed too, before its head and after", async () => {
    const { memory, server } = await served();
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const transport = createHttpAgentTransport({
      baseUrl: server.url,
      fetch: async (input, { signal: _, ...init } = {}) => {
        const response = await fetch(input, init);
        await held;
        return response;
      },
    });
    const early = transport.watchThread("t")[Symbol.asyncIterator]();
    const pending = early.next();
    await until(() => memory.watchers === 1);
    await early.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    answer();
    await until(() => memory.watchers === 0);
    const later = transport.watchThread("t")[Symbol.asyncIterator]();
    await later.next();
    const waiting = later.next();
    await later.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await until(() => memory.watchers === 0);
  });

  test("a slow reader holds the source: events are not taken that nobody reads", async () => {
    const { memory, transport } = await served();
    const watch = transport.watchThread("t", { includeInitial: false })[Symbol.asyncIterator]();
    const first = watch.next();
    await until(() => memory.watchers === 1);
    const filler = "x".repeat(10_000);
    for (let n = 0; n < 5_000; n++) memory.push("t", { type: "n", n, filler });
    await first;
    await turns(300);
    const before = memory.taken;
    expect(before).toBeLessThan(2_000); // the rest of 50 MB waits: what was taken lies in the buffers of two sockets
    await turns(100);
    expect(memory.taken).toBe(before);
    for (let n = 1; n < 5_000; n++) expect((await watch.next()).value).toMatchObject({ n });
    expect(memory.taken).toBe(5_000);
    await watch.return?.();
  });
});

test("without Node it says so", async () => {
  vi.stubGlobal("process", undefined);
  const served = serveAgentTransport(memoryTransport());
  vi.unstubAllGlobals();
  await expect(served).rejects.toThrow("serveAgentTransport needs node:http, which this platform does not have.");
});

describe("close", () => {
  test("ends watches cleanly and everything with them", async () => {
    const { memory, server, transport } = await served();
    const watches = ["a", "b"].map((id) => transport.watchThread(id)[Symbol.asyncIterator]());
    for (const watch of watches) await watch.next();
    const ends = watches.map((watch) => watch.next());
    const started = performance.now();
    await server.close();
    expect(performance.now() - started).toBeLessThan(1000);
    expect(await Promise.all(ends)).toEqual(ends.map(() => ({ done: true, value: undefined })));
    expect(memory.watchers).toBe(0);
    await server.close();
    await expect(transport.listThreads()).rejects.toThrow("ECONNREFUSED");
  });

  test("lets what was written before reach its reader", async () => {
    const { memory, server, transport } = await served();
    const watch = transport.watchThread("t")[Symbol.asyncIterator]();
    await watch.next();
    const large = { type: "large", text: "x".repeat(4_000_000) };
    memory.push("t", large);
    await until(() => memory.taken === 2);
    const [event, end] = [watch.next(), watch.next()];
    await server.close();
    expect((await event).value).toEqual(large);
    expect(await end).toEqual({ done: true, value: undefined });
  });

  test("breaks off calls, half requests, idle connections, and readers that do not read", async () => {
    const memory = memoryTransport();
    const hanging = new Promise<never>(() => undefined);
    const { server, transport } = await served({}, {
      ...memory,
      supports: memory.supports,
      getManifest: () => hanging,
    } as never);
    const call = transport.getManifest().catch((error: unknown) => error as Error);
    await raw(server.url, "POST /files?filename=x HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nabc");
    await raw(server.url, "");
    const slow = await raw(server.url, "GET /threads/t/watch HTTP/1.1\r\nhost: h\r\n\r\n");
    await until(() => memory.watchers === 1);
    slow.socket.pause();
    for (let n = 0; n < 3_000; n++) memory.push("t", { type: "n", filler: "x".repeat(10_000) });
    await turns(50);
    const started = performance.now();
    await server.close();
    expect(performance.now() - started).toBeLessThan(1000);
    expect(((await call) as Error).message).toMatch(/^GET \/manifest got no answer/);
    await until(() => memory.watchers === 0);
  });

  test("ends the watch of a transport that hears neither its signal nor return()", async () => {
    const memory = memoryTransport();
    let returned = 0;
    const deaf: AsyncIterable<never> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: () => {
          returned++;
          return Promise.reject(new Error("nobody is told"));
        },
      }),
    };
    const served_ = {
      ...memory,
      supports: memory.supports,
      watchThread: () => deaf,
    } as unknown as AgentClientTransport;
    const { server, transport } = await served({}, served_ as never);
    const watch = transport.watchThread("t")[Symbol.asyncIterator]();
    const next = watch.next();
    await turns(30);
    await server.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(returned).toBe(1);
  });

  test("await using", async () => {
    let url: string;
    {
      await using server = await serveAgentTransport(memoryTransport(), { host: "localhost" });
      url = server.url;
      expect((await fetch(`${url}/supports`)).status).toBe(200);
    }
    await expect(fetch(url)).rejects.toThrow();
  });

  test("a port that is taken is the socket's own error", async () => {
    const { server } = await served();
    const port = Number(new URL(server.url).port);
    await expect(serveAgentTransport(memoryTransport(), { port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});
