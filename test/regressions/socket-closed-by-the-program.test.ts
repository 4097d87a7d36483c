import { expect, test } from "vitest";
import { type Cassette, createDeck, memoryStore, parseCassette } from "wiretape";
import { tapeWebSocket } from "wiretape/websocket";
import { WebSocketServer, WebSocket as Ws } from "ws";
import "../support/settled.ts";

/** What a program sees of a socket that it ends itself: the same in a replay, at whatever moment it does. */
type Program = (socket: WebSocket, events: unknown[][]) => void;
type Tape = { readonly events: unknown[][]; readonly cassette: Cassette };

function run(socket: WebSocket, program: Program): Promise<unknown[][]> {
  const events: unknown[][] = [];
  for (const type of ["open", "message", "error", "close"]) {
    socket.addEventListener(type, (event) => {
      const { data, code, reason, message } = event as unknown as Record<string, unknown>;
      events.push([type, data, code, reason, message]);
    });
  }
  program(socket, events);
  return new Promise((resolve) => socket.addEventListener("close", () => setTimeout(() => resolve(events))));
}

async function record(program: Program): Promise<Tape> {
  const server = new WebSocketServer({ port: 0 });
  server.on("connection", (socket) => socket.on("message", (data) => socket.send(String(data))));
  const store = memoryStore();
  const deck = await createDeck({ mode: "record", store, name: "tape.cassette.json" });
  const { port } = server.address() as { port: number };
  const Taped = tapeWebSocket(deck, Ws as never) as typeof WebSocket;
  const events = await run(new Taped(`ws://localhost:${port}/`), program);
  await deck.finish();
  server.close();
  const text = new TextDecoder().decode(await store.read("tape.cassette.json"));
  return { events, cassette: parseCassette(text) };
}

async function replay({ cassette }: Tape, program: Program): Promise<unknown[][]> {
  const deck = await createDeck({ mode: "replay", cassette });
  const { open } = cassette.tracks[0] as Extract<Cassette["tracks"][number], { kind: "websocket" }>;
  const events = await run(new (tapeWebSocket(deck))(open.url), program);
  await deck.finish();
  return events;
}

test.each<[string, Program]>([
  ["close() before it is open", (socket) => socket.close()],
  ["terminate() before it is open", (socket) => (socket as unknown as Ws).terminate()],
  [
    "close() behind a message whose answer is on its way",
    (socket) => {
      socket.onopen = () => {
        socket.send("asked");
        socket.close(3000, "enough");
      };
    },
  ],
])("%s", async (_, program) => {
  const tape = await record(program);
  expect(await replay(tape, program)).toEqual(tape.events);
});

test("an answer that was on its way at the close comes before the end", async () => {
  const tape = await record((socket) => {
    socket.onopen = () => {
      socket.send("asked");
      socket.close(3000, "enough");
    };
  });
  expect(tape.events.map(([type]) => type)).toEqual(["open", "message", "close"]);
});

test("what was opened in the recording and is closed before that now fails as a socket does", async () => {
  const tape = await record((socket) => {
    socket.onopen = () => socket.close();
  });
  const events = await replay(tape, (socket) => socket.close());
  expect(events.map(([type, , code]) => [type, code])).toEqual([
    ["error", undefined],
    ["close", 1006],
  ]);
});

test("a listener of on() that fails is uncaught, and the connection goes on", async () => {
  const tape = await record((socket) => {
    socket.onopen = () => socket.send("asked");
    socket.onmessage = () => socket.close(1000);
  });
  const uncaught: unknown[] = [];
  const others = process.rawListeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => uncaught.push(error));
  try {
    const events = await replay(tape, (socket) => {
      (socket as unknown as Ws).on("message", () => {
        throw new Error("the test's own");
      });
      socket.onopen = () => socket.send("asked");
      socket.onmessage = () => socket.close(1000);
    });
    expect(events.map(([type]) => type)).toEqual(["open", "message", "close"]);
    expect(uncaught).toEqual([new Error("the test's own")]);
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of others) process.on("uncaughtException", listener as () => void);
  }
});
