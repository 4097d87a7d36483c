import { expect, test } from "vitest";
import {
  type CallTrack,
  type Cassette,
  createDeck,
  type Frame,
  memoryStore,
  parseCassette,
  trackStates,
} from "wiretape";
import { createAgentClient } from "../../src/agent/client.ts";
import { createRecordingAgentTransport } from "../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../src/boundary/agent/replay.ts";
import type { SupportContract } from "../agent/support-contract.ts";
import { startBackend, type Transport } from "../boundary/agent/agent-session.ts";
import "../support/settled.ts";
import { textIn } from "../support/twice.ts";

/** A program that asks, and asks once more when the answer failed. */
async function askTwiceAtMost(transport: Transport) {
  const thread = createAgentClient<SupportContract>(transport).thread("a");
  const leaving = new AbortController();
  const seen: unknown[] = [];
  const states = thread.watch({ signal: leaving.signal });
  await states.next();
  const watching = (async () => {
    for await (const { error, runs } of states)
      seen.push([error?.message ?? null, ...runs.map(({ status }) => status)]);
  })();
  const texts = (messages: readonly { parts: readonly object[] }[]): string[] =>
    messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [String(part.text)] : [])));
  try {
    let state = await (await thread.send("Compare.")).waitUntilIdle();
    const first = { error: state.error, texts: texts(state.messages) };
    if (state.error !== null) state = await (await thread.retry()).waitUntilIdle();
    return { first, second: { error: state.error, texts: texts(state.messages) }, seen };
  } finally {
    leaving.abort();
    await watching;
  }
}

async function recorded(): Promise<Cassette> {
  const store = memoryStore();
  await using backend = await startBackend();
  backend.mock.responses.queue((r) => r.assistant([r.text("Northstar is ranked first.")]));
  const deck = await createDeck({ store, mode: "record" });
  const { first } = await askTwiceAtMost(createRecordingAgentTransport(backend.http, deck));
  expect(first).toEqual({ error: null, texts: ["Compare.", "Northstar is ranked first."] });
  await deck.finish();
  return parseCassette(await textIn(store));
}

type Json = Record<string, unknown>;
const jsonOf = (frame: Frame): Json => frame.json as Json;

test("generation.failed after the third chunk: the client sees the failure, and a retry goes on from there", async () => {
  const original = await recorded();
  const cassette = structuredClone(original) as unknown as { tracks: (CallTrack & { events: Frame[]; at: number })[] };
  // What was read of the thread as it went is no longer so: the world answers that.
  cassette.tracks = cassette.tracks.filter(({ call }) => call.name !== "getThreadState");
  const watch = cassette.tracks.find(({ call }) => call.name === "watchThread") as (typeof cassette.tracks)[number];
  const third = watch.events.findIndex((frame) => jsonOf(frame).seq === 3);
  const admitted = watch.events.findIndex((frame) => jsonOf(frame).type === "run.admitted");
  const { run, version } = jsonOf(watch.events[admitted] as Frame) as { run: Json; version: Json };
  const error = { message: "Overloaded", runId: run.runId, operation: "send", messageId: run.messageId };
  const at = (revision: number): Json => ({ ...version, revision });
  const failed = { type: "generation.failed", runId: run.runId, version: at(20), error };
  // What follows is written by hand: the retry, and the same generation under another run.
  const again = { ...run, runId: "run_again", operation: "retry" };
  const rest = watch.events
    .slice(admitted + 1)
    .filter((frame) => String(jsonOf(frame).type).startsWith("generation."))
    .map((frame) => {
      const text = JSON.stringify({ ...jsonOf(frame), version: at(22) });
      return {
        json: JSON.parse(text.replaceAll(`"${run.runId}"`, '"run_again"').replaceAll('"msg_2"', '"msg_again"')),
      } as Frame;
    });
  watch.events.splice(
    third + 1,
    watch.events.length,
    { json: failed } as Frame,
    { after: "retry", json: { type: "run.admitted", version: at(21), run: again } } as unknown as Frame,
    ...rest,
  );
  cassette.tracks.push({
    id: "retry",
    kind: "agent",
    at: watch.at + ((watch.events[third] as Frame).at ?? 0),
    call: { name: "retry", thread: "a" },
    result: {
      value: { threadId: "a", runId: "run_again", messageId: run.messageId, status: "running", version: at(21) },
    },
  } as never);
  const edited = cassette as unknown as Cassette;
  expect([...trackStates(edited).values()].sort()).toEqual(expect.arrayContaining(["authored", "edited", "recorded"]));

  const deck = await createDeck({ cassette: edited, mode: "replay" });
  const transport = createReplayAgentTransport<SupportContract>(deck, { reads: "world" });
  const { first, second, seen } = await askTwiceAtMost(transport);
  expect(first).toEqual({ error, texts: ["Compare.", ""] });
  expect(second).toEqual({ error: null, texts: ["Compare.", "", "Northstar is ranked first."] });
  expect(seen).toContainEqual(["Overloaded", "failed"]);
  expect(transport.inspect.requests.retry()).toEqual([{ threadId: "a" }]);
  expect(transport.inspect.thread("a")?.runs.map(({ status }) => status)).toEqual(["failed", "completed"]);
  await deck.finish();
});

test("inserted and nothing else: what follows of the failed generation is repaired from the world", async () => {
  const cassette = structuredClone(await recorded()) as Cassette;
  const watch = cassette.tracks.find((track) => "call" in track && track.call.name === "watchThread");
  const { events } = watch as unknown as { events: Frame[] };
  const third = events.findIndex((frame) => jsonOf(frame).seq === 3);
  const { runId, version } = jsonOf(events[third] as Frame);
  const error = { message: "Overloaded", runId, operation: "send", messageId: "msg_1" };
  events.splice(third + 1, 0, { json: { type: "generation.failed", runId, version, error } } as Frame);
  const deck = await createDeck({ cassette, mode: "replay" });
  const transport = createReplayAgentTransport<SupportContract>(deck, { reads: "world" });
  await expect(askTwiceAtMost(transport)).rejects.toThrow(/^retry to thread a is past the end of the recording/);
  expect(transport.inspect.thread("a")).toMatchObject({ error: { message: "Overloaded" }, activeRunId: null });
  await expect(deck.finish()).rejects.toThrow("past the end");
});
