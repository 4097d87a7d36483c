import { describe, expect, test } from "vitest";
import { clientOf, completed, done, hello, replaceScripts, running, said, snapshot } from "./client-story.ts";
import {
  frames,
  modelMessage,
  runOf,
  type ScriptedTransport,
  type State,
  type Step,
  scriptedTransport,
  started,
  stateOf,
  user,
  version,
} from "./scripted-transport.ts";

/** A backend that accepts at revision 2 what its states, of `lag`, do not know yet. */
function lagging(lag: State, status: "running" | "queued" = "running"): ScriptedTransport {
  const transport = scriptedTransport(lag);
  const accepted = { threadId: "thread-1", runId: "run_1", messageId: "user_1", status, version: version(2) } as const;
  transport.send = async () => accepted;
  transport.submitAction = async () => ({ run: accepted });
  return transport;
}

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** What a wait has come to so far. */
function outcome<V>(promise: Promise<V>): { value?: V } {
  const seen: { value?: V } = {};
  void promise.then((value) => {
    seen.value = value;
  });
  return seen;
}

const admitted: Step = { type: "run.admitted", version: version(2), run: runOf("running") };
const message: Step = { type: "message.appended", version: version(2), message: user("Hi") };

function play(transport: ScriptedTransport, ...steps: Step[]): void {
  for (const step of steps) transport.push(step);
}

function finish(transport: ScriptedTransport, ...before: Step[]): void {
  play(transport, ...before, started(), ...frames(hello), () => void (transport.truth = done), completed);
}

describe("what is older than the acceptance does not end the wait", () => {
  test.each(["waitUntilIdle", "waitUntilBlocked"] as const)("a snapshot without the run: %s", async (wait) => {
    const transport = lagging(stateOf(1));
    const { thread } = clientOf(transport);
    const over = (await thread.send("Hi"))[wait]();
    const seen = outcome(over);
    await later();
    play(transport, snapshot(stateOf(1)), {
      type: "message.appended",
      version: version(1),
      message: user("Old", "u0"),
    });
    await later();
    expect(seen).toEqual({});
    finish(transport, message, admitted);
    expect(await over).toEqual(done);
  });

  test("a reconnect whose snapshot lags behind, in the middle of the generation", async () => {
    const transport = lagging(running);
    replaceScripts(transport, [
      [snapshot(), started(), ...frames(hello).slice(0, 4), () => void (transport.truth = stateOf(1)), "close"],
    ]);
    const { thread } = clientOf(transport);
    const over = (await thread.send("Hi")).waitUntilIdle();
    const seen = outcome(over);
    await later();
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(2);
    expect(seen).toEqual({});
    finish(transport, message, admitted);
    expect(await over).toEqual(done);
  });

  test("a run that waits in the queue, of which nothing was said yet", async () => {
    const busy = stateOf(1, { runs: [runOf("running", "run_0")], activeRunId: "run_0" });
    const transport = lagging(busy, "queued");
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    const over = (await thread.send("Hi")).waitUntilIdle();
    const seen = outcome(over);
    await later();
    // Sparse facts that are newer and speak of something else; then the item's whole way, without the run in `runs`.
    play(transport, { type: "run.updated", version: version(3), run: runOf("running", "run_0") });
    const item = { queueItemId: "q1", runId: "run_1", message: user("Hi"), createdAt: "" };
    play(transport, { type: "queue-item-added", version: version(3), item });
    await later();
    const removed = { queueItemId: "q1", runId: "run_1", reason: "admitted" };
    play(transport, { type: "queue-item-removed", version: version(4), ...removed });
    await later();
    expect(seen).toEqual({});
    play(transport, { type: "run.updated", version: version(5), run: runOf("completed") });
    expect((await over).runs).toMatchObject([{ status: "running" }, { runId: "run_1", status: "completed" }]);
    await states.return?.();
  });

  test("a run that goes on under its name: that it waited, or had failed, is over", async () => {
    for (const was of ["waiting", "failed"] as const) {
      const before = stateOf(1, { messages: [user("Hi")], runs: [runOf(was)] }, was);
      const transport = lagging(before);
      const { thread } = clientOf(transport);
      const over = (await thread.send("Hi")).waitUntilBlocked();
      const seen = outcome(over);
      await later();
      play(transport, snapshot(before));
      await later();
      expect(seen).toEqual({});
      finish(transport, admitted);
      expect(await over).toEqual(done);
    }
  });

  test("the incarnation before the one that accepted", async () => {
    const before = { ...stateOf(9), thread: { ...stateOf(9).thread, version: version(9, "instance_0") } };
    const transport = lagging(before, "queued");
    const { thread } = clientOf(transport);
    const over = (await thread.send("Hi")).waitUntilIdle();
    const seen = outcome(over);
    await later();
    play(transport, { type: "message.appended", version: version(10, "instance_0"), message: user("Old", "u0") });
    await later();
    expect(seen).toEqual({});
    play(transport, snapshot(done));
    expect(await over).toEqual(done);
  });
});

describe("a run that is gone ends the wait", () => {
  test.each<[string, State]>([
    ["not in a state as old as the acceptance", stateOf(2)],
    ["not in a newer state", stateOf(7, { messages: [user("Hi"), said] })],
    [
      "the thread is another incarnation",
      {
        ...stateOf(1),
        thread: { ...stateOf(1).thread, version: version(1, "instance_2") },
      },
    ],
  ])("%s", async (_, state) => {
    const transport = lagging(stateOf(1));
    const { thread } = clientOf(transport);
    const over = (await thread.send("Hi")).waitUntilIdle();
    await later();
    play(transport, snapshot(state));
    expect(await over).toEqual(state);
  });

  test.each(["recalled", "cancelled", "drained"])("it was %s from the queue", async (reason) => {
    const transport = lagging(stateOf(1), "queued");
    const { thread } = clientOf(transport);
    const over = (await thread.send("Hi")).waitUntilIdle();
    const seen = outcome(over);
    await later();
    const item = { queueItemId: "q1", runId: "run_1", message: user("Hi"), createdAt: "" };
    play(transport, { type: "queue-item-added", version: version(2), item });
    await later();
    expect(seen).toEqual({});
    const removed = { queueItemId: "q1", runId: "run_1", reason };
    play(transport, { type: "queue-item-removed", version: version(3), ...removed });
    expect((await over).queue.items).toEqual([]);
  });
});

test("a watch that was left asks for nothing more, at whatever moment it is left", async () => {
  const orphan = frames([hello[0] as object, { type: "text-delta", id: "t9", delta: "x" }]);
  const faults: Record<string, Step[]> = {
    close: [started(), ...frames(hello).slice(0, 4), "close"],
    "a broken connection": [started(), new Error("socket hang up")],
    "no event": [started(), 7],
    "a gap": [started(), ...frames(hello).slice(2, 4)],
    "an orphan delta": [started(), ...orphan],
    "an orphan delta at the end": [started(), ...orphan, completed],
    "a hint": [{ type: "state.changed" }],
    "an end": [started(), ...frames(hello), completed],
  };
  let left = 0;
  for (const [name, steps] of Object.entries(faults)) {
    for (let moment = 0; moment < 40; moment++) {
      const transport = scriptedTransport(running, [snapshot(), ...steps], [snapshot(), ...steps]);
      const { thread } = clientOf(transport);
      const leaving = new AbortController();
      const reading = (async () => {
        for await (const _ of thread.watch({ signal: leaving.signal }));
      })();
      for (let turn = 0; turn < moment; turn++) await Promise.resolve();
      leaving.abort();
      const calls = [...transport.calls];
      await reading;
      await later();
      expect([name, moment, ...transport.calls]).toEqual([name, moment, ...calls]);
      left++;
    }
  }
  expect(left).toBe(8 * 40);
});

test("an answer that comes after the watch was left does not disturb the next one", async () => {
  const transport = scriptedTransport(running, [snapshot(), { type: "state.changed" }]);
  const { thread } = clientOf(transport);
  const { getThreadState } = transport;
  let answer = (): void => undefined;
  transport.getThreadState = async (id) => {
    const state = await getThreadState(id);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return { ...state, messages: [modelMessage([])] };
  };
  const first = thread.watch();
  await first.next();
  await later();
  await first.return?.();
  const second = thread.watch();
  await second.next();
  play(transport, started(), ...frames(hello).slice(0, 5));
  await later();
  answer();
  await later();
  expect((await second.next()).value?.messages).toMatchObject([{ id: "user_1" }, { parts: [{}, { text: "Hello" }] }]);
  transport.truth = done;
  transport.getThreadState = getThreadState;
  play(transport, ...frames(hello).slice(5), completed);
  await later();
  expect((await second.next()).value).toEqual(done);
  expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(2);
  await second.return?.();
});
