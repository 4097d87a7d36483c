import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OptionInvalid } from "../errors.ts";
import { anthropicRoutes } from "./staging-anthropic.ts";
import { contentRoutes } from "./staging-content.ts";
import { createStagingContext } from "./staging-context.ts";
import { type Exchange, StagingRefusal, sendJson } from "./staging-exchange.ts";
import { failureRoutes } from "./staging-failures.ts";
import { openaiRoutes } from "./staging-openai.ts";
import { createStagingRouter } from "./staging-router.ts";
import { streamRoutes } from "./staging-streams.ts";
import { threadRoutes } from "./staging-threads.ts";

export interface StagingOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Servers with different seeds give out different ids, tokens and cookies. Default 1. */
  readonly seed?: number | undefined;
  /** Pause after each separate write, in milliseconds, so that chunks arrive apart. Default 5. */
  readonly paceMs?: number | undefined;
}

/** A request as it arrived; `body` is empty until all of it is here. */
export interface StagingRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
}

export interface StagingServer {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly StagingRequest[];
  /** Ends every connection, open streams and idle ones included; resolves when all are gone. May be called again. */
  close(): Promise<void>;
}

const backlog = 4096;
const defaults = { port: 0, host: "127.0.0.1", seed: 1, paceMs: 5 };

function checkOptions(options: StagingOptions): typeof defaults {
  const chosen: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(options)) {
    const example = chosen[name];
    if (!Object.hasOwn(defaults, name)) {
      const known = Object.keys(defaults).join(", ");
      throw new OptionInvalid(`The staging server has no option "${name}". It has ${known}.`, { option: name });
    }
    if (value === undefined) continue;
    const fits = typeof value === "number" ? Number.isSafeInteger(value) && value >= 0 : value !== "";
    if (typeof value !== typeof example || !fits) {
      const expected = typeof example === "number" ? "a whole number from 0" : "a host name or address";
      throw new OptionInvalid(`The staging server's "${name}" must be ${expected}.`, { option: name, value });
    }
    chosen[name] = value;
  }
  return chosen as typeof defaults;
}

/** All of a request's body, or `undefined` when the client left before its end. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of request) pieces.push(piece as Uint8Array);
  } catch {
    return undefined; // the only error of an incoming request: its connection broke
  }
  return Buffer.concat(pieces);
}

function headerPairs(request: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    pairs.push([request.rawHeaders[i] ?? "", request.rawHeaders[i + 1] ?? ""]);
  }
  return pairs;
}

/**
 * Starts a small HTTP server to record against: an agent API, content of every kind, failures of every kind and
 * imitations of two model providers. It answers the same requests in the same order with the same bytes, ids
 * included; only the `date` header moves. Without options it listens on a free port of 127.0.0.1.
 *
 * | route | answer |
 * |---|---|
 * | `POST /v1/login` `{user, password}` | a token and two cookies; 401 for the password `wrong` |
 * | `POST /v1/threads` `{title?}` | 201, a thread. All of `/v1/threads` wants `authorization: Bearer …` |
 * | `GET /v1/threads`, `GET /v1/threads/:id` | the list; one with its messages |
 * | `DELETE /v1/threads/:id` | 204; its watch streams end |
 * | `POST /v1/threads/:id/send` `{text}` | 202 `{runId}`; the run is seen on the watch streams |
 * | `GET /v1/threads/:id/watch?until=idle` | SSE: a snapshot, then each run; `until=idle` ends after the first |
 * | `GET /v1/export.ndjson` | four rows in four writes, one line torn |
 * | `GET`, `HEAD /v1/items?page=&delay=` | a page of items, after so many milliseconds |
 * | `GET /v1/numbers` | JSON as Python prints it, with `1.0`, `1e-05` and 20 digits |
 * | `GET /v1/unicode` | text in many scripts, a character torn over two writes |
 * | `GET /v1/avatar.png` | a PNG picture |
 * | `GET /v1/large?bytes=` | so many bytes of noise (default 1 MiB) |
 * | `GET /v1/gzip` | JSON, compressed |
 * | `GET`, `POST /v1/redirect?to=&times=&status=` | a chain of redirects that ends at `to` (default `/v1/items`, once, 302) |
 * | `GET /v1/cached` | with an ETag; 304 when it is sent back |
 * | `GET /v1/empty` | 200 and no body |
 * | `POST`, `PUT`, `PATCH`, `DELETE /v1/echo` | method, content type, length, SHA-256 and text of the body |
 * | `PUT /v1/upload` | 201 with size and SHA-256 |
 * | `GET /v1/flaky?fail=&key=` | 500 so many times for each key (default 2), then 200 |
 * | `GET /v1/error/:status` | a JSON error |
 * | `GET /v1/slow?ms=` | a late head |
 * | `GET /v1/drip?chunks=&everyMs=` | a slow body |
 * | `GET /v1/torn?after=` | the connection closes after so many bytes of a longer body |
 * | `GET /v1/reset` | the connection is reset before the head |
 * | `GET /v1/sse-torn` | the connection closes in the middle of an event |
 * | `GET /v1/hang` | never answers |
 * | `POST /openai/v1/chat/completions`, `POST /openai/v1/responses`, `GET /openai/v1/models` | as OpenAI's API; base URL `…/openai/v1` |
 * | `POST /anthropic/v1/messages` | as Anthropic's API; base URL `…/anthropic` |
 *
 * The models call a tool when they have one and are asked about the weather, and answer 429 once for each prompt that
 * says "rate limit". Anything else is a 404 that lists the routes, or a 405.
 *
 * @throws OptionInvalid for an unknown option or a value that cannot be one; the socket's own error when it cannot listen.
 */
export async function startStagingServer(options: StagingOptions = {}): Promise<StagingServer> {
  const { port, host, seed, paceMs } = checkOptions(options);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener a run: many are no leak
  const context = createStagingContext(seed, paceMs, closing.signal);
  const route = createStagingRouter([
    ...threadRoutes(context),
    ...contentRoutes(context),
    ...streamRoutes(),
    ...failureRoutes(),
    ...openaiRoutes(context),
    ...anthropicRoutes(context),
  ]);
  const requests: StagingRequest[] = [];
  const sockets = new Set<Socket>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "";
    const entry = {
      method,
      url: request.url ?? "",
      headers: headerPairs(request),
      body: new Uint8Array(0) as Uint8Array,
    };
    requests.push(entry);
    const over = new AbortController();
    response.on("close", () => over.abort());
    response.on("error", () => over.abort());
    const body = await readBody(request);
    if (body === undefined) return;
    entry.body = body;
    response.setHeader("x-request-id", context.nextId("request"));
    if (!URL.canParse(entry.url, "http://staging")) return void response.writeHead(400).end();
    const url = new URL(entry.url, "http://staging");
    const match = route(method, url.pathname);
    const exchange: Exchange = { request, response, url, params: match.params, body, signal: over.signal, paceMs };
    try {
      await match.handle(exchange);
    } catch (error) {
      if (response.headersSent) response.destroy(error as Error);
      else if (error instanceof StagingRefusal) {
        sendJson(exchange, error.status, { error: { code: error.code, message: error.message } });
      } else sendJson(exchange, 500, { error: { code: "bug", message: `The staging server failed: ${error}` } });
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog }, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;

  let closed: Promise<void> | undefined;
  return {
    url: `http://${name}:${address.port}`,
    requests,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        closing.abort();
        for (const socket of sockets) socket.destroy();
      });
      return closed;
    },
  };
}
