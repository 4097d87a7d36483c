import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDeck, type DeckOptions, memoryStore, parseCassette, ReplayStalled, tapeFetch } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import "../support/settled.ts";
import { textIn, twice } from "../support/twice.ts";

type Fetch = typeof globalThis.fetch;

let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer({ paceMs: 3 });
});
afterAll(() => staging.close());

const headers = { authorization: "Bearer staging-token-0123456789", "content-type": "application/json" };
const post = (fetch: Fetch, path: string, body?: unknown): Promise<Response> =>
  fetch(staging.url + path, { method: "POST", headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

/** Watches a thread and sends two messages, each when the stream has come so far; what happened, in order. */
async function chat(fetch: Fetch, pauseMs = 0): Promise<string[]> {
  const log: string[] = [];
  const { id } = (await (await post(fetch, "/v1/threads", { title: "T" })).json()) as { id: string };
  const response = await fetch(`${staging.url}/v1/threads/${id}/watch`, { headers });
  const decoder = new TextDecoder();
  let sends = 0;
  let runs = 0;
  const send = async (): Promise<void> => {
    const text = `message ${++sends}`;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    log.push(`send ${text}`);
    const { status } = await post(fetch, `/v1/threads/${id}/send`, { text });
    log.push(`sent ${text} ${status}`);
  };
  const sending: Promise<void>[] = [];
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const text = decoder.decode(chunk, { stream: true });
    for (const [, type] of text.matchAll(/"type":"([\w.]+)"/g)) log.push(type as string);
    if (sends === 0) sending.push(send());
    if (text.includes("run.completed")) {
      if (++runs === 2) break;
      sending.push(send());
    }
  }
  await Promise.all(sending);
  return log;
}

/** Without the answers to the sends, which race the stream: what the stream and the program did. */
const causal = (log: readonly string[]): string[] => log.filter((one) => !one.startsWith("sent"));

const offline = (): never => expect.fail("replay touched the network");

async function replay<T>(text: string, program: (fetch: Fetch) => Promise<T>, options: DeckOptions = {}): Promise<T> {
  const deck = await createDeck({ cassette: parseCassette(text), mode: "replay", ...options });
  const result = await program(tapeFetch(deck, offline));
  await deck.finish();
  return result;
}

test("a watch stream and the sends that drive it replay a hundred times in the recorded causal order", async () => {
  const { recorded, text } = await twice((fetch) => chat(fetch).then(causal));
  expect(recorded.slice(0, 3)).toEqual(["snapshot", "send message 1", "run.admitted"]);
  expect(recorded.indexOf("send message 2")).toBeGreaterThan(recorded.indexOf("run.completed"));
  expect(text).toContain('"after": "t3"');
  for (let play = 0; play < 100; play++) {
    // A slow client of every kind: however long the sends take, the run comes after them.
    expect(await replay(text, (fetch) => chat(fetch, play % 5).then(causal))).toEqual(recorded);
  }
});

test("with the gates taken out by hand a slow client sees another order", async () => {
  const { recorded, text } = await twice((fetch) => chat(fetch).then(causal));
  const open = text.replaceAll(/"after": "t\d+",? ?/g, "").replaceAll(/, "t\d+"\]/g, "]");
  expect(open).not.toBe(text);
  // The stream has come to its end before the slow program has sent anything at all.
  const order = await replay(open, async (fetch) => causal(await chat(fetch, 30)), { unplayed: "ignore" });
  expect(order).not.toEqual(recorded);
  expect(order.indexOf("run.completed")).toBeLessThan(order.indexOf("send message 1"));
});

test("a gate that can never open is ReplayStalled, which names what it waits for", async () => {
  const { text } = await twice((fetch) => chat(fetch).then(causal));
  const deck = await createDeck({ cassette: parseCassette(text), mode: "replay", stallAfterMs: 50 });
  const fetch = tapeFetch(deck, offline);
  const { id } = (await (await post(fetch, "/v1/threads", { title: "T" })).json()) as { id: string };
  const response = await fetch(`${staging.url}/v1/threads/${id}/watch`, { headers });
  const began = performance.now();
  const error = await response.text().then(
    () => expect.fail("it did not stall"),
    (reason: unknown) => reason as ReplayStalled,
  );
  expect(performance.now() - began).toBeLessThan(3000);
  expect(error).toBeInstanceOf(ReplayStalled);
  expect(error.message).toMatch(/chunk \d of track t2 GET .*\/watch is held by a gate/);
  expect(error.message).toContain("waits for the request of track t3");
  expect(error.details).toMatchObject({ waiting: [{ track: "t2", waitsFor: "the request of track t3" }] });
  await expect(deck.finish()).rejects.toBe(error);
});

test("a stream that nobody reads on holds nothing, and one that was left does not stall", async () => {
  const { text } = await twice((fetch) => chat(fetch).then(causal));
  const deck = await createDeck({
    cassette: parseCassette(text),
    mode: "replay",
    stallAfterMs: 30,
    unplayed: "ignore",
  });
  const fetch = tapeFetch(deck, offline);
  const { id } = (await (await post(fetch, "/v1/threads", { title: "T" })).json()) as { id: string };
  const controller = new AbortController();
  const response = await fetch(`${staging.url}/v1/threads/${id}/watch`, { headers, signal: controller.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  const held = reader.read().catch((error: Error) => error.message);
  controller.abort(new Error("enough of it"));
  expect(await held).toBe("enough of it");
  await new Promise((resolve) => setTimeout(resolve, 80));
  await expect(deck.finish()).resolves.toMatchObject({ outcome: "passed" });
});

/**
 * A scripted world: `GET /watch/n` streams every post that the server has seen, `POST /do/n` is one of them. A program
 * is a list of posts, each made once a stream has shown so many lines; it looks at what its streams show. Its streams
 * are open before it posts: gates are for what comes after a head.
 */
interface Program {
  readonly streams: number;
  readonly posts: readonly { readonly stream: number; readonly lines: number }[];
}

async function startWorld(): Promise<{ url: string; reset(): void; close(): void }> {
  let watchers: ServerResponse[] = [];
  let seen = 0;
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      request.resume().on("end", () => {
        const line = `${++seen} ${request.url}\n`;
        for (const watcher of watchers) watcher.write(line);
        response.end("ok");
      });
      return;
    }
    response.writeHead(200, { "content-type": "text/plain" }).flushHeaders();
    response.write("hello\n");
    watchers.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset: () => {
      for (const watcher of watchers) watcher.destroy();
      watchers = [];
      seen = 0;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Runs a program; fails where an effect is seen before its cause. `delay` is a slow client's. */
async function runProgram(url: string, fetch: Fetch, program: Program, delay: () => number): Promise<void> {
  const made = new Set<string>();
  const waiting = program.posts.map((post, n) => ({ ...post, n }));
  const posts: Promise<unknown>[] = [];
  const total = 1 + program.posts.length;
  const shown = Array.from({ length: program.streams }, () => 0);
  const wait = async (): Promise<void> => {
    const ms = delay();
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  };
  const due = (): void => {
    for (let i = 0; i < waiting.length; ) {
      const next = waiting[i] as (typeof waiting)[number];
      if ((shown[next.stream] as number) < next.lines) i++;
      else {
        waiting.splice(i, 1);
        posts.push(
          (async () => {
            await wait();
            made.add(`/do/${next.n}`);
            await (await fetch(`${url}/do/${next.n}`, { method: "POST" })).text();
          })(),
        );
      }
    }
  };
  const watch = async (response: Response, stream: number): Promise<void> => {
    let text = "";
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      for (const [, path] of text.matchAll(/^\d+ (\/do\/\d+)$/gm)) {
        if (!made.has(path as string)) throw new Error(`${path} was seen before it was made`);
      }
      shown[stream] = text.split("\n").length - 1;
      due();
      if (shown[stream] === total) break;
      await wait();
    }
  };
  const opened = await Promise.all(Array.from({ length: program.streams }, (_, n) => fetch(`${url}/watch/${n}`)));
  await Promise.all(opened.map(watch));
  await Promise.all(posts);
}

test("model: random programs, recorded and replayed under shuffled delays, show no effect before its cause and never stall", async () => {
  const world = await startWorld();
  const program = fc.integer({ min: 1, max: 3 }).chain((streams) =>
    fc.record({
      streams: fc.constant(streams),
      // A post waits for lines that the posts before it bring about, so that every program comes to an end.
      posts: fc
        .array(fc.record({ stream: fc.nat(streams - 1), lag: fc.nat(2) }), { minLength: 1, maxLength: 5 })
        .map((all) => all.map(({ stream, lag }, n) => ({ stream, lines: Math.max(1, 1 + n - lag) }))),
    }),
  );
  try {
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.constantFrom(0, 0, 0, 1, 2, 4)), async (one, delays) => {
        const delay = (): number => delays.next().value as number;
        world.reset();
        const store = memoryStore();
        const recorder = await createDeck({ store, mode: "record" });
        await runProgram(world.url, tapeFetch(recorder), one, () => 0);
        await recorder.finish();
        const text = await textIn(store);
        for (let play = 0; play < 6; play++) {
          await replay(text, (fetch) => runProgram(world.url, fetch, one, delay), { stallAfterMs: 2000 });
        }
      }),
      { numRuns: 20, endOnFailure: true },
    );
  } finally {
    world.close();
  }
});
