import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * One request and its answer, as the routes of the staging server see them, and the few ways to answer.
 */

/** What the routes of one server share. */
export interface StagingContext {
  /** Pause after each separate write, in milliseconds. */
  readonly paceMs: number;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
  /** `thread_6b86_1`, `thread_6b86_2`, …: counted per kind, the middle part comes from the seed. */
  nextId(kind: string): string;
  /** A clock of the server's own: it starts at a fixed instant and advances a second a call. */
  now(): Date;
  /** A long hexadecimal text that depends on the seed and the name alone. */
  secret(name: string): string;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the `:names` of the route's path stood for. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the answer is complete, the client has gone or the server closes. */
  readonly signal: AbortSignal;
  readonly paceMs: number;
}

export interface StagingRoute {
  readonly methods: readonly string[];
  /** Segments, `:name` stands for any one of them. */
  readonly path: string;
  handle(exchange: Exchange): Promise<void> | void;
}

/** What a client did wrong; the server answers it as JSON with this status. */
export class StagingRefusal extends Error {
  override readonly name = "StagingRefusal";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// Captured at import, so that a test with fake timers cannot hang a server that runs in its process.
const { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: startTurn } = globalThis;

/**
 * Waits `ms` milliseconds and two turns of the event loop; `false`, and at once, when the signal is aborted.
 *
 * The turns are for a client in the same process: on a busy machine a late timer comes before the client's read, and
 * two writes arrive as one chunk.
 */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (): void => {
      stopTimer(timer);
      signal.removeEventListener("abort", finish);
      resolve(!signal.aborted);
    };
    const timer = startTimer(() => startTurn(() => startTurn(finish)), ms);
    signal.addEventListener("abort", finish, { once: true });
  });
}

/** Writes and waits until the bytes are with the kernel; `false` when the client has gone. */
export function flush(exchange: Exchange, bytes: Uint8Array | string): Promise<boolean> {
  const { response, signal } = exchange;
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (): void => {
      signal.removeEventListener("abort", finish);
      resolve(!signal.aborted);
    };
    signal.addEventListener("abort", finish, { once: true });
    response.write(bytes, finish);
  });
}

/**
 * Writes each piece on its own, apart from the head and `everyMs` milliseconds (default: the server's pace) from the
 * next; `false` when the client has gone.
 */
export async function flushApart(
  exchange: Exchange,
  pieces: Iterable<Uint8Array | string>,
  everyMs: number = exchange.paceMs,
): Promise<boolean> {
  if (!(await pause(exchange.paceMs, exchange.signal))) return false;
  for (const piece of pieces) {
    if (!(await flush(exchange, piece)) || !(await pause(everyMs, exchange.signal))) return false;
  }
  return true;
}

/** Sends the head of a body whose length is not known, ahead of the body. */
export function openStream(exchange: Exchange, type: string, headers: Readonly<Record<string, string>> = {}): void {
  exchange.response.writeHead(200, { "content-type": type, "cache-control": "no-cache", ...headers });
  exchange.response.flushHeaders();
}

/** Answers with a whole body and its length. */
export function sendBytes(
  exchange: Exchange,
  status: number,
  type: string,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  const bytes = Buffer.from(body);
  for (const [name, value] of Object.entries(headers)) exchange.response.setHeader(name, value);
  exchange.response.writeHead(status, { "content-type": type, "content-length": bytes.length });
  exchange.response.end(bytes);
}

/** Answers with compact JSON. */
export function sendJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  sendBytes(exchange, status, "application/json", JSON.stringify(value), headers);
}

/** The body as a JSON object; a refusal with 400 where it is none. */
export function readJson(exchange: Exchange): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(exchange.body).toString("utf8"));
  } catch (cause) {
    throw new StagingRefusal(400, "invalid_json", `The body is not JSON: ${(cause as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new StagingRefusal(400, "invalid_json", "The body must be a JSON object.");
  }
  return value as Readonly<Record<string, unknown>>;
}

/** A field of a JSON body that must be a text with something in it. */
export function readText(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new StagingRefusal(400, "invalid_body", `"${name}" must be a text that is not empty.`);
}

/** A whole number of the query, between 0 and `most`; a refusal with 400 where it is none. */
export function readCount(exchange: Exchange, name: string, fallback: number, most: number): number {
  const text = exchange.url.searchParams.get(name);
  if (text === null) return fallback;
  if (/^\d{1,9}$/.test(text) && Number(text) <= most) return Number(text);
  throw new StagingRefusal(400, "invalid_query", `"${name}" must be a whole number from 0 to ${most}, not "${text}".`);
}
