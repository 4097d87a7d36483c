import { expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import {
  type ActiveGeneration,
  type RealtimeProviderEvent,
  toTransportEvent,
  toTransportEvents,
} from "../../src/agent/provider-mapping.ts";
import { serveAgentTransport } from "../../src/agent/server.ts";
import {
  delta,
  frames,
  modelMessage,
  runOf,
  type State,
  scriptedTransport,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

// Each sentence of "Realtime Provider Mapping" on the watch stream protocol's page.

const active = { streamId: "s1", generationId: "g1" };
const frame = (event: unknown, ids: object = active): RealtimeProviderEvent =>
  ({ ...ids, event }) as RealtimeProviderEvent;
const chunk = {
  type: "generation.message.chunk",
  version: version(2),
  runId: "run_1",
  seq: 1,
  messageId: "m",
  chunk: { type: "start" },
  future: 1,
};

test("the routing identity that clients do not need stays behind: a frame is its nested native event, whole", () => {
  const given = frame(chunk, { ...active, scopeKey: "tenant-7", visibility: "private" });
  expect(toTransportEvent(given, active)).toBe((given as { event: unknown }).event);
  expect(JSON.stringify(toTransportEvent(given, active))).toBe(JSON.stringify(chunk));
  expect(toTransportEvent(frame({ type: "generation.not.known.yet", x: 1 }), active)).toEqual({
    type: "generation.not.known.yet",
    x: 1,
  });
});

test("the streamId and the generationId are verified, each by itself, and the error says which was there and which is active", () => {
  const given = (ids: object, now: ActiveGeneration | undefined = active) => toTransportEvent(frame(chunk, ids), now);
  expect(() => given({ streamId: "s2", generationId: "g1" })).toThrow(
    "generation.message.chunk is of generation g1 of stream s2, and generation g1 of stream s1 is the active one.",
  );
  expect(() => given({ streamId: "s1", generationId: "g2" })).toThrow("generation g2 of stream s1, and generation g1");
  expect(() => toTransportEvent(frame(chunk), undefined)).toThrow("generation g1 of stream s1, and none is.");
});

test("thread.changed maps to state.changed without anything of the storage, and runner.wake never crosses", () => {
  expect(toTransportEvent({ type: "thread.changed", row: 7, shard: "a" }, active)).toEqual({ type: "state.changed" });
  expect(toTransportEvent({ type: "thread.changed" }, undefined)).toEqual({ type: "state.changed" });
  expect(toTransportEvent({ type: "runner.wake", runnerId: "r" }, active)).toBeUndefined();
  expect(() => toTransportEvent(frame({ type: "runner.wake" }), active)).toThrow("is no event of a realtime provider");
});

test("a sparse event is the transport's already, with the fields that nobody knows", () => {
  const sparse = { type: "run.updated", version: version(3), run: runOf("completed"), future: 1 } as const;
  expect(toTransportEvent(sparse as never, active)).toBe(sparse);
  expect(toTransportEvent({ type: "not.known.yet", x: 1 } as never, active)).toEqual({ type: "not.known.yet", x: 1 });
});

test("what is no event is told: no object, no type, half a frame, a generation's event without its frame, a snapshot", () => {
  const cyclic: Record<string, unknown> = { big: 1n };
  cyclic.self = cyclic;
  const wrong = [null, undefined, 7, "x", {}, [], cyclic, { type: 1 }, chunk, { type: "snapshot", state: {} }];
  const halves = [{ event: chunk }, { streamId: "s1", event: chunk }, { generationId: "g1", event: chunk }];
  const nested = [frame({}), frame(null), frame("x"), frame(undefined), frame({ type: "snapshot" })];
  for (const each of [...wrong, ...halves, ...nested]) {
    expect(() => toTransportEvent(each as never, active)).toThrow("is no event of a realtime provider");
  }
});

/** A served backend whose watch stands on a provider: the page's steps, with the mapping as the live part. */
async function watched(
  truth: { before: State; after: State },
  provider: () => AsyncIterable<RealtimeProviderEvent>,
): Promise<{ texts: string[]; faults: string[]; reads: number }> {
  const faults: string[] = [];
  const transport = scriptedTransport(truth.after);
  transport.watchThread = () =>
    (async function* () {
      yield { type: "snapshot", state: truth.before } as const;
      yield* toTransportEvents(
        provider(),
        () => active,
        ({ message }) => faults.push(message),
      );
    })();
  await using served = await serveAgentTransport(transport);
  const thread = createAgentClient(createHttpAgentTransport({ baseUrl: served.url })).thread("thread-1");
  const texts: string[] = [];
  for await (const state of thread.watch()) {
    const text = state.messages.at(-1)?.parts.find((part) => part.type === "text") as { text?: string } | undefined;
    texts.push(text?.text ?? "");
    if (state.runs[0]?.status === "completed") break;
  }
  const reads = transport.calls.filter((call) => call.startsWith("getThreadState")).length;
  return { texts, faults, reads };
}

const running = stateOf(2, { messages: [user("Hi")], runs: [runOf("running")], activeRunId: "run_1" });
const done = stateOf(3, { messages: [user("Hi"), modelMessage([textPart("Hello")])], runs: [runOf("completed")] });
const generation = [
  started(),
  ...frames([start(), { type: "text-start", id: "t1" }, delta("Hel"), delta("lo"), { type: "text-end", id: "t1" }]),
];
const completed = { type: "generation.completed", version: version(3), runId: "run_1" };

test("a client over HTTP watches a provider through it: frames are reduced, wakes are not seen", async () => {
  const seen = await watched({ before: running, after: done }, async function* () {
    for (const event of generation) {
      yield { type: "runner.wake" };
      yield frame(event);
    }
    yield { type: "thread.changed", row: 1 };
  });
  expect(seen.texts.at(-1)).toBe("Hello");
  expect(seen.faults).toEqual([]);
});

test("stale and malformed frames do not end the watch: the client reads the thread anew, and onFault is told", async () => {
  const seen = await watched({ before: running, after: running }, async function* () {
    for (const event of [...generation, completed]) {
      yield frame(event, { streamId: "s1", generationId: "old" });
      yield null as never;
      yield frame(event);
    }
    yield { type: "run.updated", version: version(3), run: runOf("completed") };
  });
  expect(seen.texts.at(-1)).toBe("Hello");
  expect(seen.faults).toHaveLength(2 * (generation.length + 1));
  expect(seen.reads).toBeGreaterThanOrEqual(2);
});

test("active is asked for each event, and leaving the events leaves the provider's", async () => {
  let left = false;
  async function* provider(): AsyncGenerator<RealtimeProviderEvent> {
    try {
      yield frame(chunk);
      yield frame(chunk, { streamId: "s1", generationId: "g2" });
      yield frame(chunk, { streamId: "s1", generationId: "g2" });
    } finally {
      left = true;
    }
  }
  const asked = [active, active, { ...active, generationId: "g2" }];
  const seen: string[] = [];
  for await (const { type } of toTransportEvents(provider(), () => asked.shift())) {
    seen.push(type);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual(["generation.message.chunk", "state.changed", "generation.message.chunk"]);
  expect(left).toBe(true);
});

test("an error of the provider's is the watch's", async () => {
  async function* broken(): AsyncGenerator<RealtimeProviderEvent> {
    yield* [];
    throw new Error("redis is gone");
  }
  await expect(toTransportEvents(broken(), () => active).next()).rejects.toThrow("redis is gone");
});
