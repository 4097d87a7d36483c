import { type Exchange, flush, flushApart, openStream, readCount, type StagingRoute } from "./staging-exchange.ts";

const mebibyte = 1 << 20;
const blockSize = 1 << 16;

const exportRows = [
  { id: 1, event: "order.created", total: "42.00" },
  { id: 2, event: "order.paid", total: "42.00" },
  { id: 3, event: "order.shipped", carrier: "Österreichische Post" },
  { id: 4, event: "order.delivered", signedBy: "M. Šimková" },
];

async function exportNdjson(exchange: Exchange): Promise<void> {
  const [first, second, third, fourth] = exportRows.map((row) => `${JSON.stringify(row)}\n`) as [string, ...string[]];
  const cut = 20; // in the middle of the second line
  openStream(exchange, "application/x-ndjson");
  const pieces = [first, second!.slice(0, cut), second!.slice(cut) + third!, fourth!];
  if (await flushApart(exchange, pieces)) exchange.response.end();
}

async function unicode(exchange: Exchange): Promise<void> {
  const text = Buffer.from("Grüße aus Köln, 你好, Здравствуйте, 👩🏽‍🚀!\n", "utf8");
  // One byte into the emoji: a character of four bytes, torn after the first.
  const cut = text.indexOf(0xf0) + 1;
  openStream(exchange, "text/plain; charset=utf-8");
  if (await flushApart(exchange, [text.subarray(0, cut), text.subarray(cut)])) exchange.response.end();
}

async function drip(exchange: Exchange): Promise<void> {
  const chunks = readCount(exchange, "chunks", 4, 10_000);
  const everyMs = readCount(exchange, "everyMs", exchange.paceMs, 60_000);
  openStream(exchange, "text/plain; charset=utf-8");
  const drops = Array.from({ length: chunks }, (_, i) => `drop ${i + 1} of ${chunks}\n`);
  if (await flushApart(exchange, drops, everyMs)) exchange.response.end();
}

/** Bytes that look random; each block of 64 KiB begins with its offset, so that no two are the same. */
function noise(): (offset: number, size: number) => Uint8Array {
  const block = Buffer.alloc(blockSize);
  let word = 0x2545f491;
  for (let i = 0; i < blockSize; i++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    block[i] = word & 0xff;
  }
  return (offset, size) => {
    const piece = Buffer.from(block);
    piece.writeUInt32BE(offset, 0);
    return piece.subarray(0, size);
  };
}

async function large(exchange: Exchange): Promise<void> {
  const size = readCount(exchange, "bytes", mebibyte, 256 * mebibyte);
  const pieceAt = noise();
  exchange.response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
  for (let offset = 0; offset < size; offset += blockSize) {
    if (!(await flush(exchange, pieceAt(offset, Math.min(blockSize, size - offset))))) return;
  }
  exchange.response.end();
}

/** The routes whose bodies come in several writes. */
export function streamRoutes(): StagingRoute[] {
  return [
    { methods: ["GET"], path: "/v1/export.ndjson", handle: exportNdjson },
    { methods: ["GET"], path: "/v1/unicode", handle: unicode },
    { methods: ["GET"], path: "/v1/drip", handle: drip },
    { methods: ["GET"], path: "/v1/large", handle: large },
  ];
}
