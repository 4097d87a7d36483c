import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { generateText } from "ai";
import { expect, test } from "vitest";
import {
  type Cassette,
  createDeck,
  type Deck,
  editText,
  formatCassette,
  type Lane,
  matchTrace,
  parseCassette,
  ReplayStalled,
  ScriptExhausted,
  tapeFetch,
  tapeFunction,
} from "wiretape";
import { tapeMcp } from "wiretape/mcp";
import { scriptedModel, tapeModel } from "wiretape/model";
import { tapeSpawn } from "wiretape/process";
import { tapeWebSocket } from "wiretape/websocket";
import { WebSocket, WebSocketServer } from "ws";
import "wiretape/vitest";
import "../support/settled.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** A server with a board: whoever watches it is told what others post. A bell rings over a socket when something is posted. */
async function boardServer(): Promise<{ url: string; close(): Promise<void> }> {
  const watchers = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"open"}\n\n');
      watchers.add(response);
      return;
    }
    let text = "";
    request.setEncoding("utf8").on("data", (piece) => (text += piece));
    request.on("end", () => {
      for (const watcher of watchers) watcher.write(`data: ${JSON.stringify({ type: "posted", text })}\n\n`);
      for (const socket of bells.clients) socket.send(`ding ${text}`);
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ posted: text }));
    });
  });
  const bells = new WebSocketServer({ server });
  bells.on("connection", (socket) => {
    socket.send("ready");
    socket.on("message", (data) => socket.send(`echo ${data}`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of bells.clients) socket.terminate();
      for (const watcher of watchers) watcher.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Everything that the program needs of the world; in replay none of it is touched. */
interface World {
  readonly url: string;
  readonly live: boolean;
  /** The sub-agent asks for the price once more than it did, swallows what comes, and goes on. */
  readonly greedy?: true;
}

const never = (): never => {
  throw new Error("a replay asks nobody");
};

/**
 * A program that talks across six boundaries at once: it watches a board, has a bell, a calculator process, an MCP server, a
 * model and a function, the last three in a lane of the sub-agent. What it hears, it notes in the order in which it came.
 */
async function program(deck: Deck, { url, live, greedy }: World): Promise<string[]> {
  const heard: string[] = [];
  const sub: Lane = deck.lane("sub-agent");
  const board: Lane = deck.lane("board");
  const leaving = new AbortController();

  const watch = await tapeFetch(board)(`${url}/board`, { signal: leaving.signal });
  const watched = (async () => {
    try {
      for await (const chunk of watch.body ?? [])
        heard.push(
          `board ${Buffer.from(chunk as Uint8Array)
            .toString()
            .trim()}`,
        );
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  })();
  watched.catch(() => undefined); // awaited at the end; where the replay stands still, everything fails at once
  const bell = new (tapeWebSocket(board, WebSocket))(url.replace("http", "ws"));
  bell.on("error", () => undefined);
  const rings: string[] = [];
  let ring: () => void = () => undefined;
  bell.on("message", (data: Buffer) => {
    rings.push(String(data));
    ring();
  });
  const rung = async (count: number): Promise<void> => {
    while (rings.length < count) await new Promise<void>((resolve) => (ring = resolve));
  };
  await rung(1);
  bell.send("hello");
  await rung(2);

  const child = tapeSpawn(deck, live ? spawn : (never as never))(process.execPath, [fixture("process/tape-echo.mjs")]);
  child.on("error", () => undefined);
  const lines: string[] = [];
  child.stdout.on("data", (data: Buffer) => lines.push(...String(data).trim().split("\n")));
  await once(child.stdout, "data");
  child.stdin.write("one\n");
  await once(child.stdout, "data");

  const post = async (lane: Lane, text: string): Promise<void> => {
    const response = await tapeFetch(lane)(`${url}/board`, { method: "POST", body: text });
    heard.push(`posted ${JSON.stringify(await response.json())}`);
  };
  await post(board, "first");
  await rung(3);

  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    tapeMcp(
      sub,
      live
        ? () =>
            new StdioClientTransport({
              command: process.execPath,
              args: ["--import", "tsx", fixture("mcp/stdio-v1.ts")],
            })
        : never,
    ) as never,
  );
  const { tools } = await client.listTools();
  heard.push(`tools ${tools.map(({ name }) => name).join()}`);
  const model = tapeModel(sub, live ? () => scriptedModel(["It leaves at nine."]) : never, { name: "answers" });
  const { text } = await generateText({ model: model as never, prompt: "When does it leave?" });
  heard.push(`model ${text}`);
  const price = tapeFunction(sub, "price", live ? async (seats: number) => seats * 30 : (never as never));
  heard.push(`price ${await price(2)}`);
  if (greedy) await (async () => price(2))().catch(() => undefined); // as an agent's loop does
  await client.close();

  await post(board, text);
  await rung(4);
  child.stdin.end("bye\n");
  const [code] = (await once(child, "close")) as [number];
  heard.push(`child ${lines.join()} ${code}`);
  bell.close(1000, "enough");
  await once(bell as never, "close");
  heard.push(`bell ${rings.join()}`);
  leaving.abort();
  await watched;
  return heard;
}

async function recorded(): Promise<{ cassette: Cassette; heard: string[]; url: string }> {
  const server = await boardServer();
  const deck = await createDeck({ mode: "record" });
  const heard = await program(deck, { url: server.url, live: true });
  await deck.finish();
  await server.close();
  return { cassette: deck.cassette as Cassette, heard, url: server.url };
}

test("six boundaries in one cassette, in lanes, with gates between them: recorded once, replayed with the world gone", async () => {
  const { cassette, heard, url } = await recorded();
  expect(new Set(cassette.tracks.map(({ kind }) => kind))).toEqual(
    new Set(["http", "websocket", "process", "mcp", "model", "function"]),
  );
  expect(new Set(cassette.tracks.map(({ lane }) => lane))).toEqual(new Set(["board", "sub-agent", undefined]));
  // What the board and the bell said waits for the posts that caused it: those gates lie between tracks.
  const posts = cassette.tracks
    .filter((track) => track.kind === "http" && track.request.method === "POST")
    .map(({ id }) => id);
  const gates = JSON.stringify(cassette.tracks.filter(({ kind }) => kind === "websocket" || kind === "http"));
  for (const id of posts) expect(gates.split(`"after":"${id}"`).length, id).toBeGreaterThan(2);

  const text = formatCassette(cassette);
  for (let play = 0; play < 10; play++) {
    const deck = await createDeck({ cassette: parseCassette(text) });
    expect(await program(deck, { url, live: false })).toEqual(heard);
    expect(deck).toMatchTrace([
      { boundary: "http", method: "GET", lane: "board" },
      { boundary: "websocket", kind: "frame", from: "server" },
      { boundary: "process", kind: "request" },
      { boundary: "http", method: "POST" },
      { boundary: "mcp", lane: "sub-agent" },
      { boundary: "model", lane: "sub-agent" },
      { boundary: "function", name: "^price$" },
      { boundary: "http", method: "POST" },
      { boundary: "websocket", kind: "close" },
    ]);
    expect(deck).not.toMatchTrace([{ boundary: "function" }, { boundary: "model" }]);
    expect(deck).toHavePlayedAll();
    await deck.finish();
  }
});

test("a gate by hand across boundaries holds the model's answer until the gate opens", async () => {
  const { cassette, heard, url } = await recorded();
  const place = cassette.tracks.findIndex(({ kind }) => kind === "model");
  const model = cassette.tracks[place]?.id as string;
  const opener = {
    id: "opener",
    kind: "function",
    lane: "tester",
    call: { name: "open", input: [] },
    result: { value: 1 },
  };
  const gated = (after: Record<string, string>): Cassette =>
    parseCassette(
      editText(formatCassette(cassette), [
        { path: ["tracks", cassette.tracks.length], value: opener },
        { path: ["tracks", place, "after"], value: after },
      ]),
    );
  const gate = { kind: "call", boundary: "function", name: "op*" };
  const deck = await createDeck({ cassette: gated(gate) });
  const playing = program(deck, { url, live: false });
  const asked = (): boolean => deck.trace.some(({ kind, track }) => kind === "call" && track === model);
  while (!asked()) await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(deck.trace.at(-1)).toMatchObject({ kind: "call", track: model });
  await tapeFunction(deck.lane("tester"), "open", async () => 0)();
  expect(await playing).toEqual(heard);
  await deck.finish();

  const stuck = await createDeck({ cassette: gated({ ...gate, name: "never" }), stallAfterMs: 100 });
  await expect(program(stuck, { url, live: false })).rejects.toThrow();
  await expect(stuck.finish("failed")).rejects.toThrow(ReplayStalled);
});

test("one call too many in one lane is that lane's affair: the others play on", async () => {
  const { cassette, heard, url } = await recorded();
  const deck = await createDeck({ cassette });
  expect(await program(deck, { url, live: false, greedy: true })).toEqual(heard);
  expect(deck.unplayed).toEqual([]);
  const tooMuch = deck.trace.findIndex(({ kind, boundary }) => kind === "call" && boundary === "function") + 1;
  expect(matchTrace(deck.trace.slice(tooMuch), [{ method: "POST", lane: "board" }, { kind: "close" }]).matched).toBe(
    true,
  );
  expect(deck.violations).toHaveLength(1);
  expect(deck.violations[0]).toBeInstanceOf(ScriptExhausted);
  expect(deck.violations[0]?.message).toContain("lane sub-agent");
  await expect(deck.finish()).rejects.toThrow(ScriptExhausted);
});
