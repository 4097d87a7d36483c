import type * as NodeHttp from "node:http";
import type { Socket } from "node:net";
import { OptionInvalid } from "../errors.ts";
import type { AgentContract } from "./protocol.ts";
import { answerRequest } from "./server-request.ts";
import type { AgentClientTransport } from "./transport.ts";

export interface ServeAgentOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** The longest body that a request may have, in bytes. Default 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** How often a quiet watch stream says that it is alive, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
}

export interface ServedAgentTransport extends AsyncDisposable {
  /** `http://127.0.0.1:port`, without a slash at the end: the `baseUrl` of `createHttpAgentTransport`. */
  readonly url: string;
  /** Ends every watch and breaks every other request off; resolves when all connections are gone. May be called again. */
  close(): Promise<void>;
}

/** One request that is being answered. */
interface Exchange {
  readonly response: NodeHttp.ServerResponse;
  /** Aborted when the client has gone or the server closes. */
  readonly over: AbortController;
  readonly closed: Promise<void>;
}

const DEFAULTS = { port: 0, host: "127.0.0.1", maxBodyBytes: 64 * 1024 * 1024, heartbeatMs: 15_000 };

/** How long `close` lets ended watches reach their clients, in milliseconds. */
const FAREWELL_MS = 250;

// Captured at import, so that a test with fake timers cannot hang a server that runs in its process.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/**
 * Serves any agent transport over HTTP. Node only. For tests and demos: there is no authentication, and it listens on
 * this machine alone unless `host` says otherwise.
 *
 * | route | body, and what of the query | answer |
 * |---|---|---|
 * | `POST /threads/:threadId/send` | `{ text, id?, fileIds?, metadata? }` | 202, the accepted run |
 * | `POST /threads/:threadId/retry` | `{ runId? }` | 202, the accepted run |
 * | `POST /threads/:threadId/regenerate` | `{ messageId? }` | 202, the accepted run |
 * | `POST /threads/:threadId/actions/:actionId` | `{ output }` | `{ run? }` |
 * | `GET /threads/:threadId/watch` | `?initial=false`: no snapshot first | an event stream |
 * | `GET /heads/watch` | | an event stream |
 * | `GET /threads/:threadId` | | the thread's state |
 * | `GET /threads` | | `{ threads }`, the heads |
 * | `GET /manifest` | | the manifest |
 * | `PATCH /threads/:threadId` | `{ title }` | the head |
 * | `DELETE /threads/:threadId` | | 204 |
 * | `POST /files` | the file itself; `?filename=`, `mediaType=` (default: the content type), `metadata=` (a JSON object) | 201, the file's record |
 * | `GET /files/:fileId` | | the file itself; its record in `x-agent-file`, percent-encoded JSON |
 * | `GET /files/:fileId/url` | | `{ url }`, a text or `null` |
 * | `POST /threads/:threadId/commands/:name` | `{ input }` | `{ output }` |
 * | `POST /threads/:threadId/tool-data` | `{ runId, messageId, toolCallId, name, data, id?, transient? }` | 204 |
 * | `GET /supports` | | what the transport supports |
 *
 * Ids and names are percent-encoded; `.` and `..`, which URLs resolve away, are `~.` and `~..` (and `~.` is `~~.`).
 * Bodies and answers are JSON where nothing else is said; fields that are not listed are handed on.
 *
 * An event stream has one JSON event in each `data:` field, without an event name, and comments to keep it alive. It
 * ends when the transport ends it, or as `event: error` with an error's JSON in its `data:`. The next event is taken
 * from the transport once the client has read enough of those before.
 *
 * Errors are `{ error: { name, message, code?, status } }`: 400 for a body, query or path that is wrong, 404 for an
 * unknown route (with `routes`), 405, 413, 415, 501 for what the transport does not support; what the transport throws
 * has its own `status` where it has one from 400 to 599, else 500, and 599 for a violation of the tape. No stack crosses.
 *
 * @throws OptionInvalid for an unknown option or a value that cannot be one; an Error where there is no Node; the socket's
 * own error when it cannot listen.
 */
export async function serveAgentTransport<T extends AgentContract>(
  transport: AgentClientTransport<T>,
  options: ServeAgentOptions = {},
): Promise<ServedAgentTransport> {
  const { port, host, ...limits } = checkOptions(options);
  const { createServer } = nodeHttp();
  // What a contract says of inputs holds for the program's types; here everything comes from the wire.
  const served = transport as unknown as AgentClientTransport<AgentContract>;
  const sockets = new Set<Socket>();
  const exchanges = new Set<Exchange>();

  // The head of an upload holds the file's name and metadata, percent-encoded.
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => response.on("close", resolve));
    const exchange = { response, over, closed };
    exchanges.add(exchange);
    response.on("close", () => {
      exchanges.delete(exchange);
      over.abort();
    });
    response.on("error", () => response.destroy());
    void answerRequest(served, request, response, over.signal, limits);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens on no port.");
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;

  async function closeAll(): Promise<void> {
    const gone = new Promise<void>((resolve) => server.close(() => resolve()));
    const farewells = [...exchanges].map(({ response, over, closed }) => {
      over.abort();
      if (!response.headersSent) response.destroy();
      return closed;
    });
    const farewell = new Promise<void>((resolve) => {
      const timer = startTimer(resolve, FAREWELL_MS);
      void Promise.all(farewells).then(() => {
        stopTimer(timer);
        resolve();
      });
    });
    await farewell;
    for (const socket of sockets) socket.destroy();
    await gone;
  }

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll());
  return { url: `http://${name}:${address.port}`, close, [Symbol.asyncDispose]: close };
}

// Asked for by name and not imported: a bundler for browsers fails on `node:http`, though nobody calls this there.
function nodeHttp(): typeof NodeHttp {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: "node:http") => typeof NodeHttp } };
  const http = process?.getBuiltinModule?.("node:http");
  if (http === undefined) throw new Error("serveAgentTransport needs node:http, which this platform does not have.");
  return http;
}

function checkOptions(options: ServeAgentOptions): typeof DEFAULTS {
  const chosen: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      const message = `serveAgentTransport has no option "${name}". It has ${Object.keys(DEFAULTS).join(", ")}.`;
      throw new OptionInvalid(message, { option: name });
    }
    if (value === undefined) continue;
    const least = name === "port" ? 0 : 1;
    const fits =
      name === "host" ? typeof value === "string" && value !== "" : Number.isSafeInteger(value) && value >= least;
    if (!fits) {
      const expected = name === "host" ? "a host name or address" : `a whole number from ${least}`;
      throw new OptionInvalid(`serveAgentTransport's "${name}" must be ${expected}.`, { option: name, value });
    }
    chosen[name] = value;
  }
  return chosen as typeof DEFAULTS;
}
