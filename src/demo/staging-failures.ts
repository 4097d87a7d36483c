import { STATUS_CODES } from "node:http";
import {
  type Exchange,
  flush,
  flushApart,
  openStream,
  pause,
  readCount,
  StagingRefusal,
  type StagingRoute,
  sendJson,
} from "./staging-exchange.ts";

const sentence = "The rest of this sentence will never arrive, whoever waits for it. ";

function errorStatus(exchange: Exchange): void {
  const status = Number(exchange.params.status);
  const reason = STATUS_CODES[status];
  if (!(status >= 400 && status <= 599) || reason === undefined) {
    throw new StagingRefusal(400, "invalid_status", "The status must be one that HTTP knows, from 400 to 599.");
  }
  const code = reason.toLowerCase().replace(/[^a-z]+/g, "_");
  const message = `This route always answers ${status} ${reason}.`;
  sendJson(exchange, status, { error: { code, message } }, status === 429 ? { "retry-after": "1" } : {});
}

async function slow(exchange: Exchange): Promise<void> {
  const ms = readCount(exchange, "ms", 50, 600_000);
  if (await pause(ms, exchange.signal)) sendJson(exchange, 200, { waitedMs: ms });
}

async function torn(exchange: Exchange): Promise<void> {
  const after = readCount(exchange, "after", 24, 1 << 20);
  const text = sentence.repeat(Math.floor(after / sentence.length) + 1);
  exchange.response.writeHead(200, { "content-type": "text/plain", "content-length": text.length });
  exchange.response.flushHeaders();
  if (after > 0 && !(await flush(exchange, text.slice(0, after)))) return;
  // The bytes must be with the client before the connection goes, else how many it sees would be chance.
  if (await pause(exchange.paceMs, exchange.signal)) exchange.request.socket.destroy();
}

async function sseTorn(exchange: Exchange): Promise<void> {
  openStream(exchange, "text/event-stream");
  const pieces = ['data: {"step":1}\n\n', 'data: {"step":2}\n\n', 'data: {"st'];
  if (await flushApart(exchange, pieces)) exchange.request.socket.destroy();
}

/** Lets the connection stand without an answer, until the client or the server gives up. */
function hang(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    exchange.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The routes that fail, each in its own way. */
export function failureRoutes(): StagingRoute[] {
  const attempts = new Map<string, number>();

  function flaky(exchange: Exchange): void {
    const fail = readCount(exchange, "fail", 2, 1000);
    const key = exchange.url.searchParams.get("key") ?? "";
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    if (attempt > fail) sendJson(exchange, 200, { ok: true, attempt });
    else throw new StagingRefusal(500, "internal", `The database was busy (attempt ${attempt}). Try again.`);
  }

  const get = (path: string, handle: StagingRoute["handle"]): StagingRoute => ({ methods: ["GET"], path, handle });
  return [
    get("/v1/flaky", flaky),
    get("/v1/error/:status", errorStatus),
    get("/v1/slow", slow),
    get("/v1/torn", torn),
    get("/v1/reset", (exchange) => void exchange.request.socket.resetAndDestroy()),
    get("/v1/sse-torn", sseTorn),
    get("/v1/hang", hang),
  ];
}
