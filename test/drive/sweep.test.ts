import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tapeFetch } from "../../src/boundary/http/fetch.ts";
import type { Fault } from "../../src/cassette/fault-kinds.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { trackStates } from "../../src/cassette/seal.ts";
import { sweep } from "../../src/drive/sweep.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { OptionInvalid } from "../../src/errors.ts";
import { clients, type SseClient } from "./sse-clients.ts";

const TEXT = "Żółw – €5";
let cassette: Cassette;
let url: string;
const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = [...[...TEXT].map((text) => ({ type: "text", text })), { type: "done" }];
  const write = (): void => {
    const event = events.shift();
    if (event === undefined) response.end();
    else response.write(`data: ${JSON.stringify(event)}\n\n`, () => setImmediate(write));
  };
  write();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const deck = await createDeck({ mode: "record" });
  expect(await clients.right(await tapeFetch(deck)(url))).toBe(TEXT);
  await deck.finish();
  cassette = deck.cassette as Cassette;
});
afterAll(() => server.close());

/** What a client makes of a variant: its text, or that it failed. */
async function meet(client: SseClient, variant: Cassette): Promise<string> {
  const deck = await createDeck({ cassette: variant, unplayed: "ignore" });
  try {
    const response = await tapeFetch(deck)(url);
    if (!response.ok) return "failed";
    return await client(response);
  } catch {
    return "failed";
  } finally {
    await deck.finish("failed");
  }
}

/** A fault is a failure to a client that is right, or changes nothing; it never is another text. */
function isRight(fault: Fault, heard: string): boolean {
  switch (fault.type) {
    case "tear":
    case "coalesce":
    case "delay":
      return heard === TEXT;
    case "duplicate":
      return heard !== "failed";
    default:
      return heard === "failed";
  }
}

async function wrongFor(client: SseClient): Promise<string[]> {
  const wrong: string[] = [];
  for (const { name, fault, cassette: variant } of sweep(cassette)) {
    if (!isRight(fault, await meet(client, variant))) wrong.push(name.replace(/^.*?: /, ""));
  }
  return wrong;
}

describe("a sweep of an ordinary recording", () => {
  test("finds nothing in a client that is right", async () => {
    expect(await wrongFor(clients.right)).toEqual([]);
  });

  test("catches a client that splits lines where chunks end", async () => {
    expect(await wrongFor(clients.splitsChunks)).toEqual(
      expect.arrayContaining(["torn at every byte", "torn into chunks of 7 bytes"]),
    );
  });

  test("catches a client that loses a character torn over two chunks", async () => {
    const wrong = await wrongFor(clients.losesCharacters);
    expect(wrong).toEqual(expect.arrayContaining(["torn at every byte"]));
    expect(wrong).not.toContain("cut after frame 1");
  });

  test("catches a client that does not miss the last event", async () => {
    const wrong = await wrongFor(clients.ignoresTheEnd);
    expect(wrong).toEqual(expect.arrayContaining(["cut after frame 1", "empty body"]));
    expect(wrong).not.toContain("torn at every byte");
  });
});

test("is lazy, bounded, and the same for the same seed", () => {
  const names = (options: Parameters<typeof sweep>[1]): string[] =>
    [...sweep(cassette, options)].map(({ name }) => name);
  expect(names({})).toEqual(names({ seed: 1 }));
  expect(names({ seed: 2 })).not.toEqual(names({ seed: 3 }));
  expect(names({ limit: 7 })).toHaveLength(7);
  expect(names({ faults: ["cut"], frames: 2 })).toEqual([
    "t1 GET /: cut before the first frame",
    "t1 GET /: cut after frame 1",
  ]);
  expect(new Set(names({})).size).toBe(names({}).length);
  const many = sweep({
    ...cassette,
    tracks: Array.from({ length: 500 }, (_, i) => ({ ...cassette.tracks[0]!, id: `t${i}` })),
  });
  expect(many).toHaveLength(500);
  expect(many[0]?.cassette).toBe(many[0]?.cassette);
});

const authored = parseCassette(
  '{ "wiretape": 1, "tracks": [{ "id": "a", "kind": "http", "request": { "method": "GET", "url": "https://x.test/" }, "response": { "status": 200, "body": { "json": [1] } } }] }',
);
test.each(sweep(authored, { faults: ["empty", "malformed"] }))(
  "as test.each takes it: $name",
  ({ name, cassette: variant }) => {
    expect(name).toMatch(/^a GET \/: (empty body|malformed JSON in frame 1)$/);
    expect(variant.tracks).toHaveLength(1);
  },
);

test("leaves the recording alone; each variant is a cassette, and its track is known as edited", () => {
  const before = formatCassette(cassette);
  const variants = [...sweep(cassette)];
  expect(variants.length).toBeGreaterThan(30);
  for (const { cassette: variant, fault } of variants) {
    expect(formatCassette(parseCassette(formatCassette(variant)))).toBe(formatCassette(variant));
    const states = trackStates(variant);
    expect(states.get("t1"), fault.type).toBe(fault.type === "status" ? "recorded" : "edited");
  }
  expect(formatCassette(cassette)).toBe(before);
});

test("wrong options are told all at once", () => {
  const wrong = {
    faults: ["cuts"],
    tracks: ["t2"],
    frames: 0,
    sizes: [0],
    statuses: [99],
    seed: 0.5,
    limits: 3,
  } as never;
  expect(() => sweep(cassette, wrong)).toThrow(OptionInvalid);
  expect(() => sweep(cassette, wrong)).toThrow(
    /limits; the nearest is limit; .*"cut".*"t1".*frames is 0.*size is 0.*status is 99.*seed is 0.5/,
  );
});
