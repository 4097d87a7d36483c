import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { tapeFetch } from "wiretape";
import { type AnyMcpTransport, tapeMcp } from "wiretape/mcp";
import { connect, type Era, twice } from "../boundary/mcp/mcp-session.ts";
import { type McpHttpServer, serveHttpV1, serveHttpV2 } from "../fixtures/mcp/http-server.ts";
import { pause } from "../fixtures/mcp/server-v1.ts";
import "../support/settled.ts";

type Fetch = typeof globalThis.fetch;

function http(era: Era, url: URL, fetch: Fetch = globalThis.fetch, sessionId?: string): AnyMcpTransport {
  const options = { fetch, ...(sessionId === undefined ? {} : { sessionId }) };
  return era === "v1"
    ? new StreamableHTTPClientTransportV1(url, options)
    : new StreamableHTTPClientTransport(url, options);
}

const servers: Record<"v1" | "v2", () => Promise<McpHttpServer>> = { v1: serveHttpV1, v2: serveHttpV2 };

const pairs: [Era, "v1" | "v2"][] = [
  ["v1", "v1"],
  ["v1", "v2"],
  ["v2 legacy", "v1"],
  ["v2 legacy", "v2"],
  ["v2 modern", "v2"],
];

/** Everything a session can hold; what it saw until it was closed. `settle` waits for what clients do by themselves. */
async function session(
  era: Era,
  kind: "v1" | "v2",
  transport: AnyMcpTransport,
  settle: () => Promise<void>,
): Promise<unknown[]> {
  const { client, log, call } = await connect(era, transport as never);
  log.push((await client.listTools()).tools.map(({ name }) => name));
  await call("add", { a: 1, b: 2 });
  await call("count", { to: 3 }, { onprogress: ({ progress }) => log.push(["progress", progress]) });
  // Without a session a server of the older era has nothing to ask over.
  if (kind === "v1" || era === "v2 modern") await call("ask");
  // The rest of the answer comes on a stream that is asked for without an id.
  if (kind === "v1") await call("cut");
  await call("announce");
  await call("fail");
  const abort = new AbortController();
  const waiting = call("wait", {}, { signal: abort.signal });
  await call("add", { a: 3, b: 4 });
  abort.abort("enough");
  await waiting;
  await settle();
  await Promise.all([1, 2, 3].map((a) => call("add", { a, b: 0, ms: 120 - a * 30 })));
  await client.close();
  return [...log];
}

function expectWhole(recorded: unknown[]): void {
  expect(recorded).toContainEqual(["add", "3"]);
  expect(recorded.filter((entry) => Array.isArray(entry) && entry[0] === "progress")).toEqual([
    ["progress", 1],
    ["progress", 2],
    ["progress", 3],
  ]);
  expect(recorded).toContainEqual(["notifications/message", "first"]);
  // In which order a busy machine answers is its own affair; that a replay keeps it is seen by twice().
  expect(recorded.slice(-4, -1).map(String).sort()).toEqual(["add,1", "add,2", "add,3"]);
  expect(recorded.at(-1)).toBe("closed");
}

describe.each(pairs)("%s client, %s server", (era, kind) => {
  test("a session over HTTP is recorded, and replayed without the server", async () => {
    const server = await servers[kind]();
    const { recorded, text } = await twice(
      (deck, mode) =>
        session(
          era,
          kind,
          tapeMcp(deck, () => {
            if (mode === "replay") throw new Error("a replay made a transport");
            return http(era, server.url);
          }),
          () => Promise.resolve(),
        ),
      { gone: server.close },
    );
    expectWhole(recorded);
    expect(text.match(/"kind": "mcp"/g)).toHaveLength(1);
    // Where each request has a stream of its own, ending it takes the request back.
    expect(text.includes("$/cancel")).toBe(era === "v2 modern");
    expect(text.includes("notifications/cancelled")).toBe(era !== "v2 modern");
  });

  test("a session is recorded at the wire, and replayed without the server", async () => {
    const server = await servers[kind]();
    const { recorded } = await twice(
      // A v1 client asks for the rest of a stream after a time that the server names; nobody waits for it.
      (deck) => session(era, kind, http(era, server.url, tapeFetch(deck)), () => pause(60)),
      { gone: server.close },
    );
    expectWhole(recorded);
  });

  test("at the wire ids may differ: answers bear those of this time", async () => {
    const server = await servers[kind]();
    let replaying = false;
    const { recorded } = await twice(
      async (deck, mode) => {
        replaying = mode === "replay";
        const taped = tapeFetch(deck);
        const other: Fetch = (url, init) => (replaying ? shiftIds(taped, url, init) : taped(url, init));
        return session(era, kind, http(era, server.url, other), () => pause(60));
      },
      { gone: server.close },
    );
    expectWhole(recorded);
  });
});

// As a client asks that has made a thousand requests before: each id and progress token of its own is another one, and an
// answer under a recorded one finds nobody.
async function shiftIds(fetch: Fetch, url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const sent = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
  if (sent?.method !== undefined) {
    if (sent.id !== undefined) sent.id = shifted(sent.id, 1000);
    const { params } = sent;
    if (params?._meta?.progressToken !== undefined) params._meta.progressToken += 1000;
    if (params?.requestId !== undefined) params.requestId = shifted(params.requestId, 1000);
  }
  const response = await fetch(url, sent === undefined ? init : { ...init, body: JSON.stringify(sent) });
  if (response.body === null) return response;
  let line = "";
  const lines = new TransformStream<string, string>({
    transform(text, out) {
      const parts = (line + text).split("\n");
      line = parts.pop() as string;
      for (const part of parts) out.enqueue(`${back(part)}\n`);
    },
    flush: (out) => out.enqueue(back(line)),
  });
  const stream = response.body
    .pipeThrough(new TextDecoderStream() as never)
    .pipeThrough(lines as never)
    .pipeThrough(new TextEncoderStream() as never);
  return new Response(stream as never, { status: response.status, headers: response.headers });
}

function shifted(id: unknown, by: number): unknown {
  return typeof id === "number" ? id + by : `${id}${by}`;
}

// The ids that the server names are the client's own, shifted: one that was not is made unknown.
function back(line: string): string {
  const [, head = "", json] = /^(data: )?(\{.*)$/.exec(line) ?? [];
  if (json === undefined) return line;
  const message = JSON.parse(json);
  const own = (id: number | string): unknown =>
    typeof id === "number"
      ? id >= 1000
        ? id - 1000
        : `stale ${id}`
      : id.endsWith("1000")
        ? id.slice(0, -4)
        : `stale ${id}`;
  if (message.method === undefined) message.id = own(message.id);
  if (message.method === "notifications/progress") message.params.progressToken = own(message.params.progressToken);
  return head + JSON.stringify(message);
}
