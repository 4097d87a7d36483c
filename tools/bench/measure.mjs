// node measure.mjs SCENARIO PEER FOLDER: one measurement in a process of its own; prints one JSON line.
import { readFileSync } from "node:fs";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { floorFetch, ORIGIN, post, shuffled, small } from "./workload.mjs";

const [scenario, peer, folder] = process.argv.slice(2);
const now = () => performance.now();

/** Opens a peer over a fixture and gives a `fetch`. */
async function open(name) {
  if (peer === "floor") return floorFetch(JSON.parse(readFileSync(`${folder}/${name}.plain.json`, "utf8")));
  if (peer === "wiretape") {
    const { openDeck, tapeFetch } = await import("../../dist/index.js");
    return tapeFetch(await openDeck(`${folder}/${name}.cassette.json`, { mode: "replay", unplayed: "ignore" }));
  }
  const plain = JSON.parse(readFileSync(`${folder}/${name}.plain.json`, "utf8"));
  const answers = new Map(plain.map((x) => [x.key, x]));
  const reply = (x) => [x.body, { status: x.status, headers: Object.fromEntries(x.headers) }];
  if (peer === "msw") {
    const { http, HttpResponse } = await import("msw");
    const { setupServer } = await import("msw/node");
    const answer = async ({ request }) => {
      const body = request.method === "POST" ? `\n${await request.text()}` : "";
      return new HttpResponse(...reply(answers.get(`${request.method} ${request.url}${body}`)));
    };
    setupServer(http.all("*", answer)).listen({ onUnhandledRequest: "error" });
    return globalThis.fetch;
  }
  throw new Error(`no peer ${peer}`);
}

async function timed(fetch, requests, warm) {
  let started = 0;
  let wrong = 0;
  for (const [i, { url, init, want }] of requests.entries()) {
    if (i === warm) started = now();
    const text = await (await fetch(url, init)).text();
    if (!text.startsWith(want)) wrong++;
  }
  if (wrong > 0) throw new Error(`${wrong} wrong answers`);
  return ((now() - started) * 1000) / (requests.length - warm);
}

const scenarios = {
  /** Microseconds a request: small GETs in recorded order, 10,000 tracks. */
  async replay() {
    const requests = Array.from({ length: 10_000 }, (_, i) => ({ url: small(i).url, want: `{"id":${i},` }));
    return timed(await open("small-10000"), requests, 1000);
  },
  /** Milliseconds from the file to the first answer. */
  async load() {
    new Response(""); // the platform loads fetch lazily; that is not what is measured
    if (peer === "wiretape") await import("../../dist/index.js");
    const { url } = small(5000);
    const started = now();
    if (peer === "JSON.parse") JSON.parse(readFileSync(`${folder}/small-10000.cassette.json`, "utf8"));
    else await (await (await open("small-10000"))(url)).text();
    return now() - started;
  },
  /** Microseconds a request: POSTs to one URL, matched by body, in random order. */
  async lookup(size) {
    const n = Number(size);
    const ids = shuffled(n).slice(0, 2500);
    // A small cassette is asked again and again: its answers repeat only in the floor, so it is reopened when it is used up.
    const all = ids.map((i) => ({
      url: post(i).url,
      init: { method: "POST", body: post(i).question, headers: { "content-type": "application/json" } },
      want: `{"id":${i},`,
    }));
    const warm = await open(`post-${n}`);
    if (n > 2500) return timed(warm, all, 500);
    let total = 0;
    let rounds = 0;
    for (let done = 0; done < 2500; done += all.length, rounds++) {
      const cost = await timed(await open(`post-${n}`), all, 0);
      if (done >= 500 || all.length >= 2500) total += cost;
      else rounds--;
    }
    return total / rounds;
  },
  /** Microseconds an event: 100,000 events, one a chunk, through an SSE parser. */
  async stream() {
    const fetch = await open("events-100000");
    const started = now();
    const response = await fetch(`${ORIGIN}/v1/stream`);
    let count = 0;
    for await (const event of response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream()))
      if (event.event === "delta") count++;
    if (count !== 100_000) throw new Error(`${count} events`);
    return ((now() - started) * 1000) / count;
  },
};

const [kind, argument] = scenario.split("-");
const value = await scenarios[kind](argument);
process.stdout.write(`${JSON.stringify({ scenario, peer, value, rssMB: process.resourceUsage().maxRSS / 1024 })}\n`);
process.exit(0);
