import { afterEach, expect, test } from "vitest";
import type { PaiThreadTransportEvent, PaiThreadTransportState, ThreadState } from "wiretape/agent";
import { createAgentClient, createHttpAgentTransport, createMockAgentClient } from "wiretape/agent";
import { rawServer } from "../support/raw-server.ts";
import { done, hello, running, snapshot } from "./client-story.ts";
import { frames, runOf, start, started, user, version } from "./scripted-transport.ts";

// Each test is a sample or a sentence of the watch stream's page; the protocol is spoken to the client by hand, over a socket.

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const SSE = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const json = (value: unknown): string => {
  const body = JSON.stringify(value);
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
  return `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};
/** "HTTP uses one JSON transport event in each SSE data: field" */
const data = (event: unknown): string => `data: ${JSON.stringify(event)}\n\n`;
const completed = { type: "generation.completed", version: version(3), runId: "run_1" };
const wellEnded = [snapshot(), started(), ...frames(hello)].map(data);

type Piece = string | "destroy" | (() => void);

/** A backend by hand: each watch gets the next script; `truth` is what a read of the state gives. */
async function backend(...watches: Piece[][]) {
  const place = { truth: running as PaiThreadTransportState, watches: 0, reads: 0, readsBefore: 0 };
  const server = await rawServer((path) => {
    if (path.endsWith("/watch")) place.readsBefore = place.reads;
    if (path.endsWith("/watch")) return pieces(watches[place.watches++] ?? [data(snapshot(place.truth))]);
    place.reads++;
    return [json(path.endsWith("/send") ? accepted : place.truth)];
  }, 0);
  const accepted = {
    threadId: "thread-1",
    runId: "run_1",
    messageId: "user_1",
    status: "running",
    version: version(2),
  };
  function* pieces(script: Piece[]): Generator<string> {
    yield SSE;
    for (const piece of script) {
      if (typeof piece === "function") piece();
      else yield piece;
    }
  }
  closing.push(server.close);
  const thread = createAgentClient(createHttpAgentTransport({ baseUrl: server.url })).thread("thread-1");
  return { place, thread };
}

/** Watches until a state holds. */
async function until(states: AsyncIterable<ThreadState>, holds: (state: ThreadState) => boolean): Promise<ThreadState> {
  for await (const state of states) if (holds(state)) return state;
  throw new Error("the watch ended");
}
const idle = ({ activeRunId }: ThreadState): boolean => activeRunId === null;
const textOf = ({ messages }: ThreadState): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : []))).join("|");

test("Applications observe complete projected state", async () => {
  const mock = createMockAgentClient();
  mock.responses.queue((r) => r.assistant([r.text("Done.")]));
  const thread = mock.client.thread("thread-1");
  const rendered: string[] = [];
  const render = (messages: ThreadState["messages"], runs: ThreadState["runs"]): void => {
    rendered.push(JSON.stringify([messages.length, runs.map(({ status }) => status)]));
  };
  const sending = thread.send("Hello");
  for await (const state of thread.watch()) {
    render(state.messages, state.runs);
    if (state.runs.some(({ status }) => status === "completed")) break;
  }
  await sending;
  expect(rendered.at(-1)).toBe('[2,["completed"]]');
});

test("The example of Replay Authority, in its own words", async () => {
  const at = (revision: number) => ({ threadInstanceId: "instance_1", revision });
  const run = runOf("running");
  const chunk = (seq: number, value: object) => ({
    type: "generation.message.chunk",
    version: at(9),
    runId: "run_1",
    seq,
    messageId: "msg_1",
    chunk: value,
  });
  const head = { ...running.thread, version: at(8) };
  const state = { ...running, thread: head, runs: [run], activeRunId: "run_1", messages: [user("Hi")] };
  const finished = { ...state, thread: { ...head, status: "idle", version: at(10) }, activeRunId: null };
  const { place, thread } = await backend([
    data({ type: "snapshot", state }),
    data({ type: "run.admitted", version: at(9), run }),
    data({ type: "generation.started", version: at(9), runId: "run_1", seq: 0, baseMessages: [] }),
    data(chunk(1, start())),
    data(chunk(2, { type: "start-step" })),
    data(chunk(3, { type: "text-start", id: "text_1" })),
    // The line of SSE Encoding, as it stands on the page.
    'data: {"type":"generation.message.chunk","version":{"threadInstanceId":"instance_1","revision":9},"runId":"run_1","seq":4,"messageId":"msg_1","chunk":{"type":"text-delta","id":"text_1","delta":"Hello"}}\n\n',
    data(chunk(5, { type: "text-end", id: "text_1" })),
    data(chunk(6, { type: "finish-step" })),
    data(chunk(7, { type: "finish" })),
  ]);
  const written = await until(thread.watch(), (each) => textOf(each) === "Hi|Hello");
  expect(written.messages[1]).toMatchObject({
    id: "msg_1",
    metadata: start().messageMetadata,
    parts: [{ type: "step-start" }, { type: "text", text: "Hello" }],
  });
  place.truth = { ...finished, runs: [runOf("completed")], messages: [user("Hi"), written.messages[1]] } as never;
  expect(await until(thread.watch(), idle)).toMatchObject({
    thread: { version: at(10) },
    messages: [{}, { id: "msg_1" }],
  });
});

test("The union has every arm of the page, and no other", () => {
  const arms: Record<PaiThreadTransportEvent["type"], true> = {
    snapshot: true,
    "generation.started": true,
    "generation.message.chunk": true,
    "generation.completed": true,
    "generation.failed": true,
    "generation.error": true,
    "generation.aborted": true,
    "message.appended": true,
    "run.admitted": true,
    "run.updated": true,
    "thread.head.changed": true,
    "queue-item-added": true,
    "queue-item-removed": true,
    "state.changed": true,
  };
  expect(Object.keys(arms)).toHaveLength(14);
  expect(Object.keys(running).sort()).toEqual(
    ["thread", "messages", "runs", "pending", "activeRunId", "queue", "usage", "capabilities", "error"].sort(),
  );
});

// The number: reads of the state before it is watched again; one for the fault, or for the hint and the end behind it.
test.each<[string, string[], number]>([
  ["malformed JSON", [data(started()), 'data: {"type":"generation.mess\n\n'], 2],
  ["a frame that was lost", frames(hello).map(data).toSpliced(2, 1).toSpliced(0, 0, data(started())), 1],
  ["a chunk of another run", [data(started()), ...frames(hello, { runId: "run_9" }).map(data)], 1],
  ["another incarnation", [data({ type: "run.updated", version: version(9, "instance_2"), run: runOf("failed") })], 1],
  ["a stream that closes in the middle", [data(started()), ...frames(hello).slice(0, 4).map(data)], 1],
  ["a stream that breaks off in an event", [data(started()), data(frames(hello)[0]).slice(0, 40), "destroy"], 1],
  ["a state that changed", [data({ type: "state.changed" })], 2],
])("Snapshots are the correctness boundary: %s, over a socket", async (_, script, reads) => {
  const { place, thread } = await backend([data(snapshot()), ...script], [
    ...wellEnded,
    () => void (place.truth = done as PaiThreadTransportState),
    data(completed),
  ] as Piece[]);
  const state = await until(thread.watch(), idle);
  expect(state).toEqual(done);
  expect(thread.getState()).toEqual(done);
  expect([place.watches, place.readsBefore]).toEqual([2, reads]);
});
