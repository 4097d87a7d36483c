import { describe, expect, test } from "vitest";
import type { PaiThreadTransportEvent, RunStateDTO, ThreadVersion } from "wiretape/agent";
import { createWorld, type World } from "../../src/agent/world.ts";

const THREAD = "thread-1";
type Event = PaiThreadTransportEvent;

const run = (runId: string, status: RunStateDTO["status"] = "running"): RunStateDTO => ({
  runId,
  threadId: THREAD,
  status,
  operation: "send",
  initiator: "send",
  metadata: {},
  messageId: "msg_1",
  createdAt: "2026-01-01T00:00:00.000Z",
});
const at = (revision: number, threadInstanceId = "instance_1"): ThreadVersion => ({ threadInstanceId, revision });
const admitted = (revision: number, runId = "run_1"): Event => ({
  type: "run.admitted",
  version: at(revision),
  run: { ...run(runId), status: "running" },
});
const started = (revision: number, runId = "run_1"): Event => ({
  type: "generation.started",
  runId,
  version: at(revision),
  seq: 0,
  baseMessages: [],
});
const chunk = (seq: number, value: object, over: object = {}): Event =>
  ({
    type: "generation.message.chunk",
    version: at(1),
    runId: "run_1",
    seq,
    messageId: "msg_2",
    chunk: value,
    ...over,
  }) as Event;
const pai = { runId: "run_1", producer: "model", createdAt: "2026-01-01T00:00:00.000Z" };
const opening = [
  chunk(1, { type: "start", messageId: "msg_2", messageMetadata: { pai } }),
  chunk(2, { type: "text-start", id: "t" }),
  chunk(3, { type: "text-delta", id: "t", delta: "Hello" }),
];

async function generating(): Promise<World> {
  const world = createWorld();
  for (const event of [admitted(1), started(1), ...opening]) expect(await world.publish(THREAD, event)).toBe(true);
  return world;
}
const textOf = (world: World): unknown => (world.state(THREAD).messages[0]?.parts[0] as { text?: unknown })?.text;

async function drain(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  const iterator = events[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([iterator.next(), new Promise<undefined>((done) => setTimeout(done, 5))]);
    if (next === undefined || next.done) break;
    seen.push(next.value);
  }
  await iterator.return?.();
  return seen;
}

describe("what is out of order leaves the store as it was, and is forwarded as it is", () => {
  test.each<[string, Event]>([
    ["a gap", chunk(9, { type: "text-delta", id: "t", delta: "!" })],
    ["a duplicate", opening[2] as Event],
    ["another run", chunk(4, { type: "text-delta", id: "t", delta: "!" }, { runId: "run_9" })],
    ["another incarnation", chunk(4, { type: "text-delta", id: "t", delta: "!" }, { version: at(1, "instance_9") })],
    ["a message that nothing started", chunk(4, { type: "text-delta", id: "t", delta: "!" }, { messageId: "msg_9" })],
    ["an orphan delta", chunk(4, { type: "text-delta", id: "nobody", delta: "!" })],
    ["an older revision", { type: "run.updated", version: at(0), run: run("run_1", "completed") }],
    ["a second start", started(1)],
    ["no event of this protocol", { type: "message.appended" } as unknown as Event],
  ])("%s", async (_, event) => {
    const world = await generating();
    const before = world.state(THREAD);
    const iterator = world.watch(THREAD, { includeInitial: false })[Symbol.asyncIterator]();
    for (let frame = 0; frame < 4; frame++) await iterator.next();
    expect(await world.publish(THREAD, event)).toBe(false);
    expect(world.state(THREAD)).toEqual(before);
    expect((await iterator.next()).value).toBe(event);

    // And what comes next in order is taken.
    expect(await world.publish(THREAD, chunk(4, { type: "text-delta", id: "t", delta: " you" }))).toBe(true);
    expect(textOf(world)).toBe("Hello you");
  });
});

test("a late watcher is given the snapshot, then the generation from its start", async () => {
  const world = await generating();
  const seen = await drain(world.watch(THREAD));
  expect(seen[0]).toEqual({ type: "snapshot", state: world.state(THREAD) });
  expect(seen.slice(1)).toEqual([started(1), ...opening]);
  await world.publish(THREAD, { type: "generation.completed", version: at(2), runId: "run_1" });
  expect((await drain(world.watch(THREAD))).map(({ type }) => type)).toEqual(["snapshot"]);
  expect(await drain(world.watch(THREAD, { includeInitial: false }))).toEqual([]);
});

test("sequence 0 is shown and not retained", async () => {
  const world = await generating();
  const live = chunk(0, { type: "data-pai-tool-data", data: 1, transient: true });
  const before = world.state(THREAD);
  expect(await world.publish(THREAD, live)).toBe(true);
  expect(world.state(THREAD)).toEqual(before);
  expect(await drain(world.watch(THREAD, { includeInitial: false }))).not.toContainEqual(live);
});

test("a generation that starts over restores its base and drops what the run wrote after it", async () => {
  const world = await generating();
  await world.publish(THREAD, { type: "generation.completed", version: at(2), runId: "run_1" });
  expect(world.state(THREAD).messages).toHaveLength(1);
  await world.publish(THREAD, admitted(3));
  await world.publish(THREAD, started(3));
  expect(world.state(THREAD).messages).toEqual([]);
});

test("an error or an abort ends the reduction; the outcome follows", async () => {
  const world = await generating();
  expect(
    await world.publish(THREAD, {
      type: "generation.error",
      version: at(1),
      runId: "run_1",
      seq: 4,
      error: { message: "x" },
    }),
  ).toBe(true);
  expect(await world.publish(THREAD, chunk(5, { type: "text-delta", id: "t", delta: "!" }))).toBe(false);
  const error = { message: "x", runId: "run_1", operation: "send", messageId: "msg_1" } as const;
  await world.publish(THREAD, { type: "generation.failed", version: at(2), runId: "run_1", error });
  expect(world.state(THREAD)).toMatchObject({ error, activeRunId: null, thread: { status: "failed" } });
});

test("events of a thread that was deleted do not bring it back", async () => {
  const world = await generating();
  world.remove(THREAD);
  expect(world.has(THREAD)).toBe(false);
  expect(await world.publish(THREAD, { type: "run.updated", version: at(9), run: run("run_1") })).toBe(false);
  expect(world.has(THREAD)).toBe(false);
  expect(world.state(THREAD).thread.version).toEqual({ threadInstanceId: "instance_2", revision: 0 });
});

test("what was heard of first names the incarnation: a recording has its own", async () => {
  const world = createWorld();
  expect(
    await world.publish(THREAD, {
      type: "run.admitted",
      version: at(7, "elsewhere"),
      run: { ...run("r"), status: "running" },
    }),
  ).toBe(true);
  expect(world.state(THREAD).thread.version).toEqual(at(7, "elsewhere"));
});

test("an event of an unknown type, and a hint, make no thread", async () => {
  const world = createWorld();
  await world.publish(THREAD, { type: "state.changed" });
  await world.publish(THREAD, { type: "from.the.future" } as unknown as Event);
  expect([world.has(THREAD), world.heads()]).toEqual([false, []]);
});

test("what is handed out shares nothing with the store", async () => {
  const world = await generating();
  const state = world.state(THREAD) as unknown as { messages: { parts: { text: string }[] }[] };
  (state.messages[0]?.parts[0] as { text: string }).text = "changed";
  expect(textOf(world)).toBe("Hello");
});

test("watches end with their signal, by return, and when the world is cleared", async () => {
  const world = createWorld();
  const stop = new AbortController();
  const [aborted, cleared, never] = [
    world.watch(THREAD, { signal: stop.signal })[Symbol.asyncIterator](),
    world.watch(THREAD)[Symbol.asyncIterator](),
    world.watch(THREAD, { signal: AbortSignal.abort() })[Symbol.asyncIterator](),
  ];
  expect((await never.next()).done).toBe(true);
  await aborted.next();
  const pending = aborted.next();
  stop.abort();
  expect((await pending).done).toBe(true);
  expect((await cleared.next()).value?.type).toBe("snapshot");
  world.clear();
  expect((await cleared.next()).done).toBe(true);
});

test("10,000 chunks of one message are applied without quadratic growth", async () => {
  const world = await generating();
  const time = async (from: number, count: number): Promise<number> => {
    const begun = performance.now();
    for (let seq = from; seq < from + count; seq++) {
      await world.publish(THREAD, chunk(seq, { type: "text-delta", id: "t", delta: "abc " }));
    }
    return performance.now() - begun;
  };
  await time(4, 1000);
  const first = await time(1004, 2000);
  await time(3004, 5000);
  const last = await time(8004, 2000);
  expect(last).toBeLessThan(first * 4);
  expect(String(textOf(world)).length).toBe(5 + 4 * 10_000);
});
