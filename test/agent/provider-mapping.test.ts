import { expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import { type RealtimeProviderEvent, toTransportEvent, toTransportEvents } from "../../src/agent/provider-mapping.ts";
import { OptionInvalid } from "../../src/errors.ts";
import {
  delta,
  frames,
  modelMessage,
  runOf,
  scriptedTransport,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

const active = { streamId: "s1", generationId: "g1" };
const frame = (event: object, ids: object = active): RealtimeProviderEvent =>
  ({ ...ids, event }) as RealtimeProviderEvent;
const chunk = {
  type: "generation.message.chunk",
  version: version(2),
  runId: "run_1",
  seq: 1,
  messageId: "m",
  chunk: { type: "start" },
};

test("a frame of the active generation is its native event; those of others do not cross", () => {
  expect(toTransportEvent(frame(chunk), active)).toBe(toTransportEvent(frame(chunk), active));
  expect(toTransportEvent(frame(chunk), active)).toEqual(chunk);
  expect(toTransportEvent(frame(chunk, { streamId: "s2", generationId: "g1" }), active)).toBeUndefined();
  expect(toTransportEvent(frame(chunk, { streamId: "s1", generationId: "g2" }), active)).toBeUndefined();
  expect(toTransportEvent(frame(chunk), undefined)).toBeUndefined();
});

test("thread.changed is state.changed without anything of the storage; runner.wake never crosses; the rest is as it is", () => {
  expect(toTransportEvent({ type: "thread.changed", row: 7, shard: "a" }, active)).toEqual({ type: "state.changed" });
  expect(toTransportEvent({ type: "runner.wake", runnerId: "r" }, active)).toBeUndefined();
  const sparse = { type: "run.updated", version: version(3), run: runOf("completed"), future: 1 } as const;
  expect(toTransportEvent(sparse as never, active)).toBe(sparse);
  expect(toTransportEvent({ type: "not.known.yet", x: 1 } as never, active)).toEqual({ type: "not.known.yet", x: 1 });
});

test("what is no event is told", () => {
  for (const wrong of [null, 7, {}, { streamId: "s1", generationId: "g1", event: {} }]) {
    expect(() => toTransportEvent(wrong as never, active)).toThrow(OptionInvalid);
  }
});

test("a client watches a provider through it, and sees the active generation alone", async () => {
  const running = stateOf(2, { messages: [user("Hi")], runs: [runOf("running")], activeRunId: "run_1" });
  const done = stateOf(3, { messages: [user("Hi"), modelMessage([textPart("Hello")])], runs: [runOf("completed")] });
  async function* provider(): AsyncGenerator<RealtimeProviderEvent> {
    yield frame(started());
    for (const event of frames([start(), { type: "text-start", id: "t1" }, delta("Hello")])) {
      yield frame(event as object);
      yield frame(event as object, { streamId: "s1", generationId: "old" });
      yield { type: "runner.wake" };
    }
    yield { type: "thread.changed", row: 1 };
    await new Promise(() => undefined);
  }
  const transport = scriptedTransport(done, []);
  transport.watchThread = () =>
    (async function* () {
      yield { type: "snapshot", state: running } as never;
      yield* toTransportEvents(provider(), () => active);
    })();
  const thread = createAgentClient(transport).thread("thread-1");
  const seen: string[] = [];
  for await (const state of thread.watch()) {
    const text = state.messages.at(-1)?.parts.find((part) => part.type === "text") as { text?: string } | undefined;
    seen.push(text?.text ?? "");
    if (state.runs[0]?.status === "completed") break;
  }
  expect(seen.at(-1)).toBe("Hello");
  expect(thread.getState().runs[0]?.status).toBe("completed");
});
