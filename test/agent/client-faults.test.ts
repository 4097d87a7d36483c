import { describe, expect, test } from "vitest";
import type { ThreadState } from "../../src/agent/project.ts";
import { ScriptExhausted } from "../../src/errors.ts";
import {
  appended,
  clientOf,
  completed,
  done,
  hello,
  replaceScripts,
  running,
  said,
  snapshot,
  textOf,
  wellEnded,
} from "./client-story.ts";
import {
  delta,
  frames,
  runOf,
  type Step,
  scriptedTransport,
  start,
  started,
  stateOf,
  user,
  version,
} from "./scripted-transport.ts";

describe("a fault is repaired", () => {
  const other = "instance_2";
  const cut = (from: number, to: number): Step[] => frames(hello).slice(from, to);
  const faults: Record<string, Step[]> = {
    "a gap": [started(), ...cut(0, 3), ...cut(4, 6)],
    "a chunk before the generation was announced": cut(0, 1),
    "the same sequence with another content": [started(), ...cut(0, 4), ...frames([delta("xx")], { from: 4 })],
    "another announcement of the same run": [started(), ...cut(0, 4), started([said])],
    "a chunk of another run": [started(), ...cut(0, 3), ...frames([delta("x")], { runId: "run_9", from: 4 })],
    "a chunk for a message that nothing started": [started(), ...frames(hello.slice(1, 4))],
    "a start without facts": [started(), ...frames([{ type: "start", messageId: "msg_1" }])],
    "a start that names another message": [started(), ...frames([start("msg_2")])],
    "a start that names another run": [started(), ...frames([start("msg_1", "run_9")])],
    "a start that says another time of creation": [
      snapshot({ ...running, messages: [user("Hi"), said] }),
      started(),
      ...frames([start("msg_1", "run_1", "2027-01-01T00:00:00.000Z")]),
    ],
    "a chunk for the user's message": [started(), ...frames([delta("x")], { messageId: "user_1" })],
    "an orphan delta": [started(), ...frames([hello[0] as object, delta("x", "t9")])],
    "a delta after its end": [started(), ...frames([...hello.slice(0, 6), delta("late")])],
    "a reduction that goes on after its end": [
      started(),
      { type: "generation.aborted", version: version(2), runId: "run_1", seq: 1 },
      ...frames(hello, { from: 2 }),
    ],
    "another incarnation": [started(), { type: "run.updated", version: version(9, other), run: runOf("failed") }],
    "an admission of another incarnation": [
      { type: "run.admitted", version: version(1, other), run: runOf("running") },
    ],
    "a value that is no event": [started(), 7],
    "a text for an event": ["data"],
    null: [null],
    "a list": [[1]],
    "an event without a type": [{ kind: "snapshot" }],
    "a chunk without a type": [started(), ...frames([{ delta: "x" }])],
    "a delta that is no text": [started(), ...cut(0, 3), ...frames([{ ...delta(""), delta: 5 }], { from: 4 })],
    "a sequence that is no number": [started(), { ...frames(hello)[0], seq: "1" }],
    "a version without a revision": [{ ...frames(hello)[0], version: { threadInstanceId: "instance_1" } }],
    "a message without parts": [{ type: "message.appended", version: version(3), message: { id: "x", role: "user" } }],
    "a snapshot without messages": [{ type: "snapshot", state: { ...running, messages: undefined } }],
    "a close in the middle": [started(), ...cut(0, 4), "close"],
    "a close before anything": ["close"],
    "a broken connection": [started(), ...cut(0, 4), new Error("socket hang up")],
    "a live-only chunk of a message that is not there": [{ ...frames(hello)[3], seq: 0, messageId: "msg_7" }],
  };

  test.each(Object.entries(faults))("%s", async (_, steps) => {
    const transport = scriptedTransport(running);
    const { thread, slept } = clientOf(transport);
    const scripts = [[snapshot(), ...steps], wellEnded(transport)];
    replaceScripts(transport, scripts);
    const run = await thread.send("Hi");
    // Somebody looks, so that what only the reducer can refuse is found while it happens.
    const states = thread.watch();
    const seen = (async () => {
      let last: ThreadState | undefined;
      for await (const state of states) last = state;
      return last;
    })();
    const state = await run.waitUntilIdle();
    expect(state).toEqual(done);
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(2);
    expect(slept).toEqual([]);
    transport.push("close");
    expect(await seen).toEqual(done);
    expect(thread.getState()).toEqual(done);
  });

  test("an orphan delta that is found while the state is read is not forgotten", async () => {
    const transport = scriptedTransport(running);
    replaceScripts(transport, [[snapshot(), started(), ...frames([start()])], wellEnded(transport)]);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await states.next();
    const { getThreadState } = transport;
    let answer = (): void => undefined;
    transport.getThreadState = async (id) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return getThreadState(id);
    };
    const next = states.next();
    transport.push(frames([delta("x", "t9")], { from: 2 })[0] as Step);
    transport.push({ type: "state.changed" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    transport.getThreadState = getThreadState;
    answer();
    let state = (await next).value as ThreadState | undefined;
    while (state?.activeRunId !== null) state = (await states.next()).value;
    expect(state).toEqual(done);
    await states.return?.();
  });

  test("an orphan delta that nobody looks at is found when the generation closes", async () => {
    const transport = scriptedTransport(running);
    replaceScripts(transport, [
      [snapshot(), started(), ...frames([start(), delta("x", "t9")]), completed],
      wellEnded(transport),
    ]);
    const { thread } = clientOf(transport);
    expect(await (await thread.send("Hi")).waitUntilIdle()).toEqual(done);
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(2);
  });

  test("a watch that does not begin with a snapshot", async () => {
    const transport = scriptedTransport(running);
    replaceScripts(transport, [[started(), ...frames(hello)], wellEnded(transport)]);
    const { thread } = clientOf(transport);
    expect(await (await thread.send("Hi")).waitUntilIdle()).toEqual(done);
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(2);
  });

  test("without a generation the watch that is open goes on", async () => {
    const idle = stateOf(5, { messages: [user("Hi"), said], runs: [runOf("completed")] });
    const transport = scriptedTransport(idle);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.truth = { ...idle, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
    transport.push("no event");
    expect((await states.next()).value).toEqual(transport.truth);
    transport.push({ type: "message.appended", version: version(6), message: user("Again", "user_2") });
    expect((await states.next()).value?.messages).toHaveLength(3);
    expect(transport.calls).toEqual(["watchThread", "getThreadState"]);
    await states.return?.();
  });

  test("that leads nowhere is told, with what went wrong each time", async () => {
    const transport = scriptedTransport(running, ...Array.from({ length: 9 }, () => [snapshot(), started(), "close"]));
    const { thread, slept } = clientOf(transport);
    const run = await thread.send("Hi");
    const states = thread.watch();
    const seen = (async () => {
      for await (const _ of states);
    })();
    await expect(run.waitUntilIdle()).rejects.toMatchObject({
      name: "AgentWatchFailed",
      threadId: "thread-1",
      faults: Array.from({ length: 6 }, () => "the watch stream closed"),
      message: expect.stringContaining('thread "thread-1"'),
    });
    await expect(seen).rejects.toMatchObject({ name: "AgentWatchFailed" });
    expect(slept).toEqual([50, 100, 200, 400]);
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(6);
    // And afterwards it is begun afresh.
    replaceScripts(transport, [wellEnded(transport)]);
    expect(await run.waitUntilIdle()).toEqual(done);
  });

  test("as long as something new comes, patience does not end", async () => {
    const transport = scriptedTransport(running);
    const pieces = hello.map((_, index) => [snapshot(), started(), ...cut(0, index), "close"] as Step[]);
    replaceScripts(transport, [...pieces, wellEnded(transport)]);
    const { thread } = clientOf(transport);
    expect(await (await thread.send("Hi")).waitUntilIdle()).toEqual(done);
  });

  test("an error of wiretape's is no broken connection: it is not asked again", async () => {
    const transport = scriptedTransport(running, [new ScriptExhausted("nothing left")]);
    const { thread } = clientOf(transport);
    const run = await thread.send("Hi");
    await expect(run.waitUntilIdle()).rejects.toThrow(ScriptExhausted);
    expect(transport.calls.filter((call) => call === "watchThread")).toHaveLength(1);
  });
});

describe("no fault", () => {
  test.each<[string, Step[]]>([
    ["every frame twice", [started(), started(), ...frames(hello).flatMap((frame) => [frame, structuredClone(frame)])]],
    ["the whole replay again", [started(), ...frames(hello), started(), ...frames(hello)]],
    ["frames with an older revision", [started([], "run_1", 1), ...frames(hello, { revision: 1 })]],
    ["types of the future", [{ type: "thread.blessed" }, started(), ...frames([...hello, { type: "hologram", n: 1 }])]],
    ["a stale fact", [started(), ...frames(hello), { type: "run.updated", version: version(1), run: runOf("failed") }]],
    ["the same fact twice", [started(), ...frames(hello), appended(), appended()]],
    ["a copy of the message that is written", [started(), ...frames(hello), { ...appended(), message: said }]],
    ["a copy of the message before it is written", [started(), { ...appended(), message: said }, ...frames(hello)]],
    ["a late snapshot", [started(), ...frames(hello), snapshot(stateOf(1))]],
    ["a snapshot in between", [started(), ...frames(hello).slice(0, 4), snapshot(), ...frames(hello).slice(4)]],
  ])("%s", async (_, steps) => {
    const transport = scriptedTransport(running);
    replaceScripts(transport, [[snapshot(), ...steps, () => void (transport.truth = done), completed]]);
    const { thread } = clientOf(transport);
    const run = await thread.send("Hi");
    const state = await run.waitUntilIdle();
    expect(state).toEqual(done);
    expect(transport.calls).toEqual([expect.any(String), "getThreadState", "watchThread", "getThreadState"]);
  });

  test("the version is never rolled back, and a refresh beside a watch leaves its generation alone", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push({
      type: "thread.head.changed",
      reason: "attributes",
      head: { ...running.thread, version: version(7) },
    });
    transport.push(started());
    for (const frame of frames(hello)) transport.push(frame);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await states.next()).value?.thread.version).toEqual(version(7));
    transport.truth = { ...running, thread: { ...running.thread, version: version(8), title: "Read" } };
    const refreshed = await thread.refresh();
    expect(refreshed.thread.title).toBe("Read");
    expect(textOf(refreshed)).toBe("Hello");
    // An answer that is older than what the watch has told is not taken.
    transport.truth = stateOf(3);
    expect(await thread.refresh()).toEqual(refreshed);
    await states.return?.();
  });

  test("events of an incarnation that is gone are passed over", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    const reborn = { ...stateOf(1), thread: { ...stateOf(1).thread, version: version(1, "instance_2") } };
    transport.push({ type: "snapshot", state: reborn });
    expect((await states.next()).value).toEqual(reborn);
    transport.push(started());
    transport.push({ type: "run.updated", version: version(9), run: runOf("failed") });
    transport.push(snapshot());
    transport.push({ type: "message.appended", version: version(2, "instance_2"), message: user("New") });
    expect((await states.next()).value?.messages).toHaveLength(1);
    expect(transport.calls).toEqual(["watchThread"]);
    await states.return?.();
  });
});
