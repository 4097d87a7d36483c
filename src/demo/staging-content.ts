import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import {
  type Exchange,
  pause,
  readCount,
  type StagingContext,
  StagingRefusal,
  type StagingRoute,
  sendBytes,
  sendJson,
} from "./staging-exchange.ts";
import { avatarPng } from "./staging-png.ts";

const itemNames = ["Lamp", "Kettle", "Notebook", "Umbrella", "Headphones", "Backpack", "Teapot", "Compass"];
const pageSize = 3;

// Spaced as Python's json.dumps prints it, with numbers that JavaScript would print otherwise.
const numbers =
  '{"ratio": 1.0, "tolerance": 1e-05, "account": 12345678901234567890, "offset": -0.0, "mean": 0.1, ' +
  '"city": "Z\\u00fcrich"}';

const cachedBody = JSON.stringify({ currency: "EUR", rates: { CHF: 0.94, CZK: 25.1, GBP: 0.86 } });
const cachedTag = `"${createHash("sha256").update(cachedBody).digest("hex").slice(0, 16)}"`;

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function textOrNull(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : null;
}

async function items(exchange: Exchange): Promise<void> {
  const page = readCount(exchange, "page", 1, 1000);
  const delayMs = readCount(exchange, "delay", 0, 60_000);
  if (delayMs > 0 && !(await pause(delayMs, exchange.signal))) return;
  const start = (page - 1) * pageSize;
  const rows = page === 0 ? [] : itemNames.slice(start, start + pageSize);
  const listed = rows.map((name, i) => ({ id: start + i + 1, name, price: (5 + (start + i) * 2.5).toFixed(2) }));
  const next = page > 0 && start + pageSize < itemNames.length ? page + 1 : null;
  sendJson(exchange, 200, { page, total: itemNames.length, items: listed, next });
}

function redirect(exchange: Exchange): void {
  const times = readCount(exchange, "times", 1, 100);
  const status = readCount(exchange, "status", 302, 308);
  if (![301, 302, 303, 307, 308].includes(status)) {
    throw new StagingRefusal(400, "invalid_query", '"status" must be 301, 302, 303, 307 or 308.');
  }
  const to = exchange.url.searchParams.get("to") ?? "/v1/items";
  const again = new URLSearchParams({ to, times: String(times - 1), status: String(status) });
  // A header takes visible ASCII only; what is percent-encoded already must stay as it is.
  const location = times > 1 ? `/v1/redirect?${again}` : to.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
  sendBytes(exchange, status, "text/plain; charset=utf-8", `See ${location}\n`, { location });
}

function cached(exchange: Exchange): void {
  const headers = { etag: cachedTag, "cache-control": "max-age=60" };
  if (exchange.request.headers["if-none-match"] === cachedTag) exchange.response.writeHead(304, headers).end();
  else sendJson(exchange, 200, JSON.parse(cachedBody), headers);
}

function echo(exchange: Exchange): void {
  const { request, body } = exchange;
  sendJson(exchange, 200, {
    method: request.method,
    contentType: request.headers["content-type"] ?? null,
    length: body.length,
    sha256: sha256(body),
    text: textOrNull(body),
  });
}

/** The routes that answer with one body, of every kind. */
export function contentRoutes(context: StagingContext): StagingRoute[] {
  const avatar = avatarPng();
  const report = gzipSync(JSON.stringify({ title: "Quarterly report", rows: itemNames.map((name) => ({ name })) }));

  function upload(exchange: Exchange): void {
    const id = context.nextId("file");
    const file = { id, size: exchange.body.length, sha256: sha256(exchange.body) };
    sendJson(exchange, 201, file, { location: `/v1/upload/${id}` });
  }

  const get = (path: string, handle: StagingRoute["handle"]): StagingRoute => ({ methods: ["GET"], path, handle });
  return [
    { methods: ["GET", "HEAD"], path: "/v1/items", handle: items },
    get("/v1/numbers", (exchange) => sendBytes(exchange, 200, "application/json", numbers)),
    get("/v1/avatar.png", (exchange) => sendBytes(exchange, 200, "image/png", avatar)),
    get("/v1/gzip", (exchange) =>
      sendBytes(exchange, 200, "application/json", report, { "content-encoding": "gzip", vary: "accept-encoding" }),
    ),
    { methods: ["GET", "POST"], path: "/v1/redirect", handle: redirect },
    get("/v1/cached", cached),
    get("/v1/empty", (exchange) => void exchange.response.writeHead(200, { "content-length": 0 }).end()),
    { methods: ["POST", "PUT", "PATCH", "DELETE"], path: "/v1/echo", handle: echo },
    { methods: ["PUT"], path: "/v1/upload", handle: upload },
  ];
}
