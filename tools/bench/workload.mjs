// What is measured, and the floor that it is measured against: a hand-written fetch double in the same process.
import { writeFileSync } from "node:fs";
import { formatCassette, sealText } from "../../dist/index.js";

export const ORIGIN = "http://api.bench.test";
const WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima".split(" ");

function jsonOfSize(i, size) {
  const base = {
    id: i,
    name: `item ${i} ${WORDS[i % WORDS.length]}`,
    ok: true,
    score: i / 8,
    tags: [WORDS[i % 7], WORDS[(i * 3) % 11]],
    pad: "",
  };
  base.pad = "x".repeat(size - JSON.stringify(base).length);
  return JSON.stringify(base);
}

const headers = (type, body) => [
  ["content-length", String(body.length)],
  ["content-type", type],
  ["date", "Tue, 01 Jul 2025 10:00:00 GMT"],
  ["x-request-id", "req-00000001"],
];

/** A GET with an answer of 1 KB. */
export function small(i) {
  const body = jsonOfSize(i, 1024);
  return {
    method: "GET",
    url: `${ORIGIN}/v1/items/${i}`,
    status: 200,
    headers: headers("application/json", body),
    body,
  };
}

/** A POST to one URL, told apart by its JSON body alone. */
export function post(i) {
  const question = JSON.stringify({
    model: "m-large-1",
    messages: [{ role: "user", content: `Question ${i}: what is ${WORDS[i % 11]} times ${i % 97}?` }],
    seed: i,
  });
  const body = jsonOfSize(i, 300);
  return {
    method: "POST",
    url: `${ORIGIN}/v1/chat/completions`,
    question,
    status: 200,
    headers: headers("application/json", body),
    body,
  };
}

/** A stream of server-sent events, one a chunk. */
export function events(count) {
  return Array.from({ length: count }, (_, k) => {
    const data = JSON.stringify({ index: k, delta: { content: `${WORDS[k % WORDS.length]} ` }, pad: ".".repeat(30) });
    return `id: ${String(k).padStart(7, "0")}\nevent: delta\ndata: ${data}\n\n`;
  });
}

/** Writes interactions as a sealed cassette, and as the plain JSON that the floor reads. */
export function writeBoth(folder, name, interactions) {
  const tracks = interactions.map((x, i) => ({
    id: `t${i + 1}`,
    kind: "http",
    at: i,
    request: {
      method: x.method,
      url: x.url,
      headers: x.question === undefined ? [] : [["content-type", "application/json"]],
      ...(x.question === undefined ? {} : { body: { json: JSON.parse(x.question) } }),
    },
    response: {
      at: 0,
      status: x.status,
      reason: "OK",
      headers: x.headers,
      body: x.chunks === undefined ? { json: JSON.parse(x.body) } : x.chunks.map((text) => sseFrame(text)),
    },
  }));
  const text = sealText(formatCassette({ wiretape: 1, tracks }));
  const file = `${folder}/${name}.cassette.json`;
  writeFileSync(file, text);
  const plain = interactions.map((x) => ({ ...x, key: keyOf(x.method, x.url, x.question) }));
  writeFileSync(`${folder}/${name}.plain.json`, JSON.stringify(plain));
  return file;
}

function sseFrame(text) {
  const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)\n\n$/.exec(text);
  return { at: 0, sse: { id, event, json: JSON.parse(data) } };
}

export const keyOf = (method, url, body) => (body === undefined ? `${method} ${url}` : `${method} ${url}\n${body}`);

/** The floor: a Map of preloaded bytes. */
export function floorFetch(plain) {
  const answers = new Map();
  for (const x of plain) {
    const ends = [];
    if (x.chunks !== undefined) for (let i = 0, at = 0; i < x.chunks.length; i++) ends.push((at += x.chunks[i].length));
    answers.set(x.key, {
      bytes: Buffer.from(x.body),
      ends,
      init: { status: x.status, statusText: "OK", headers: x.headers },
    });
  }
  return async (url, init) => {
    const answer = answers.get(keyOf(init?.method ?? "GET", url, init?.body));
    if (answer === undefined) throw new TypeError("no recording");
    if (answer.ends.length === 0) return new Response(answer.bytes, answer.init);
    let i = 0;
    let from = 0;
    const pull = (controller) => {
      if (i === answer.ends.length) return controller.close();
      controller.enqueue(answer.bytes.subarray(from, (from = answer.ends[i++])));
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), answer.init);
  };
}

/** Fisher-Yates with a fixed seed, so that lookups do not come in recorded order. */
export function shuffled(n, seed = 12345) {
  const list = Array.from({ length: n }, (_, i) => i);
  let state = seed;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}
