import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatCassette, type HttpTrack, openDeck, parseCassette, tapeFetch, withDeck } from "wiretape";
import { type Observation, observe } from "../support/observe.ts";
import { rawServer } from "../support/raw-server.ts";

/**
 * Real sockets, real files: whatever bytes a server sends, in whatever pieces they come, the replay hands the program
 * the same bytes in the same pieces, whatever form the file keeps them in.
 */
let folder = "";
let pieces: Uint8Array[] = [];
let media = "text/plain";
let torn = false;
let server: Awaited<ReturnType<typeof rawServer>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wiretape-bytes-"));
  server = await rawServer(function* () {
    yield `HTTP/1.1 200 OK\r\ncontent-type: ${media}\r\ntransfer-encoding: chunked\r\n\r\n`;
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      yield Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
    }
    yield torn ? "destroy" : "0\r\n\r\n";
  }, 2);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;
async function roundTrip(
  body: readonly Uint8Array[],
  type: string,
  breaks: boolean,
): Promise<{ seen: Observation; track: HttpTrack }> {
  pieces = [...body];
  media = type;
  torn = breaks;
  const path = join(folder, `${++count}.cassette.json`);
  const seen = await withDeck(path, { mode: "record" }, (deck) => observe(() => tapeFetch(deck)(`${server.url}/`)));
  const text = await readFile(path, "utf8");
  const cassette = parseCassette(text);
  expect(formatCassette(cassette)).toBe(text); // printing is idempotent
  const offline = (): never => expect.fail("replay touched the network");
  const deck = await openDeck(path, { mode: "replay", integrity: "sealed" });
  const replayed = await observe(() => tapeFetch(deck, offline)(`${server.url}/`));
  await deck.finish();
  expect(replayed).toEqual(seen);
  if (!breaks) expect((seen.chunks ?? []).join("")).toBe(Buffer.concat(body).toString("latin1"));
  return { seen, track: cassette.tracks[0] as HttpTrack };
}

/** Cuts bytes into pieces at arbitrary places, also inside characters and events. */
const pieced = (bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array[]> =>
  fc.tuple(bytes, fc.array(fc.nat(400), { maxLength: 5 })).map(([all, places]) => {
    const cuts = [0, ...places.map((place) => place % (all.length + 1)), all.length].sort((a, b) => a - b);
    return cuts.slice(1).map((cut, i) => all.subarray(cuts[i], cut));
  });

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const newline = fc.constantFrom("\n", "\r\n", "\r");
const word = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("", "\ufeff", "déjà", "👩🏽‍🚀", "a: b", " "),
);

const printed = fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.nat(5)).map(([value, style]) => {
  const text = JSON.stringify(value);
  if (style === 0) return text.replaceAll("/", "\\/");
  if (style === 1) return JSON.stringify(value, null, 2).replaceAll("\n", "");
  if (style === 2)
    return text.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (style === 3) return `{"n": 1.0, "e": 1e-05, "big": 12345678901234567890, "v": ${text}}`;
  if (style === 4) return `{"a":1,"a":${text}}`;
  return text;
});

const event = fc
  .tuple(
    newline,
    fc.array(
      fc.tuple(fc.constantFrom("data", "event", "id", "retry", "", "other"), fc.boolean(), fc.oneof(word, printed)),
      { maxLength: 4 },
    ),
  )
  .map(([end, lines]) => {
    const clean = (text: string): string => text.replace(/[\r\n]/g, "");
    return lines.map(([name, space, value]) => `${name}:${space ? " " : ""}${clean(value)}${end}`).join("") + end;
  });
const sse = fc.array(event, { maxLength: 5 }).map((events) => utf8(events.join("")));
const ndjson = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: printed }, { weight: 1, arbitrary: word })),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
  )
  .map(([lines, end, closed]) => utf8(lines.join(end) + (closed ? end : "")));
const binary = fc.uint8Array({ maxLength: 300 });

const runs = { numRuns: 25 };

test("arbitrary bytes in arbitrary pieces, ended or torn off", async () => {
  await fc.assert(
    fc.asyncProperty(
      pieced(binary),
      fc.constantFrom("application/octet-stream", "text/event-stream", "application/json"),
      fc.boolean(),
      async (body, type, breaks) => {
        await roundTrip(body, type, breaks);
      },
    ),
    runs,
  );
});

test("arbitrary server-sent events in every style", async () => {
  await fc.assert(
    fc.asyncProperty(pieced(sse), async (body) => {
      await roundTrip(body, "text/event-stream; charset=utf-8", false);
    }),
    runs,
  );
});

test("arbitrary NDJSON and JSON in every style", async () => {
  await fc.assert(
    fc.asyncProperty(
      pieced(ndjson),
      fc.constantFrom("application/x-ndjson", "application/json"),
      async (body, type) => {
        await roundTrip(body, type, false);
      },
    ),
    runs,
  );
});

test("pieces that were written apart arrive apart, and are frames or cuts in the file", async () => {
  const text = 'data: {"a":"é"}\n\ndata: {"b":2}\n\n';
  const bytes = utf8(text);
  const middle = bytes.indexOf(0xc3) + 1; // inside the character
  const { seen, track } = await roundTrip(
    [bytes.subarray(0, middle), bytes.subarray(middle)],
    "text/event-stream",
    false,
  );
  expect(seen.chunks).toHaveLength(2);
  expect(track.response?.body).toMatchObject([
    { sse: { json: { a: "é" } }, cuts: [[middle, expect.any(Number)]] },
    { joined: true, sse: { json: { b: 2 } } },
  ]);
});
