import { describe, expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import type { ThreadState } from "../../src/agent/project.ts";
import { isPaiToolPart } from "../../src/agent/tool-part.ts";
import { clientOf, completed, done, hello, running, said, snapshot, textOf } from "./client-story.ts";
import {
  frames,
  modelMessage,
  runOf,
  type Step,
  scriptedTransport,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

describe("a generation", () => {
  test("the page's example: a watch reduces it, and its end is read", async () => {
    const transport = scriptedTransport(running, [
      snapshot(),
      { type: "run.admitted", version: version(2), run: runOf("running") },
      started(),
      ...frames(hello),
      completed,
    ]);
    const { thread } = clientOf(transport);
    const run = await thread.send("Hi");
    expect(thread.getState().thread.status).toBe("running");
    transport.truth = done;
    const state = await run.waitUntilIdle();
    expect(state).toEqual(done);
    expect(transport.calls).toEqual([
      'send {"text":"Hi","threadId":"thread-1"}',
      "getThreadState",
      "watchThread",
      "getThreadState",
    ]);
    expect(await run.waitUntilIdle()).toBe(state);
    expect(await run.waitUntilBlocked()).toBe(state);
    expect(transport.calls).toHaveLength(4);
  });

  test("a reader sees it grow, each state complete", async () => {
    const transport = scriptedTransport(running, [snapshot()]);
    const { thread } = clientOf(transport);
    const texts: string[] = [];
    const states = thread.watch();
    texts.push(textOf((await states.next()).value));
    transport.push(started());
    for (const frame of frames(hello)) {
      transport.push(frame);
      texts.push(textOf((await states.next()).value));
    }
    expect(texts.filter((text, index) => text !== texts[index - 1])).toEqual(["", "Hel", "Hello"]);
    expect(textOf(thread.getState())).toBe("Hello");
    await states.return?.();
    expect((await states.next()).done).toBe(true);
  });

  test("while the reader is busy states are passed over, but never the last", async () => {
    const transport = scriptedTransport(running);
    transport.truth = running;
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started());
    for (const frame of frames(hello)) transport.push(frame);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(textOf((await states.next()).value)).toBe("Hello");
    const pending = states.next();
    transport.push({ type: "thread.head.changed", reason: "attributes", head: { ...running.thread, title: "T" } });
    expect((await pending).value?.thread.title).toBe("T");
    await states.return?.();
  });

  test("failed: the error is known at once, without a read", async () => {
    const error = { message: "Provider failed", runId: "run_1", operation: "send", messageId: "user_1" } as const;
    const transport = scriptedTransport(running, [
      snapshot(),
      started(),
      ...frames(hello.slice(0, 4)),
      { type: "generation.failed", version: version(3), runId: "run_1", error },
      ...frames(hello.slice(4), { from: 5 }),
    ]);
    const { thread } = clientOf(transport);
    const run = await thread.send("Hi");
    const state = await run.waitUntilIdle();
    expect(state).toMatchObject({ error, activeRunId: null, thread: { status: "failed", version: version(3) } });
    expect(state.runs).toMatchObject([{ runId: "run_1", status: "failed", error }]);
    expect(textOf(state)).toBe("Hel");
    expect(transport.calls.filter((call) => call === "getThreadState")).toHaveLength(1);
    expect(textOf(thread.getState())).toBe("Hel");
  });

  test.each(["generation.error", "generation.aborted"] as const)("%s ends the reduction, not the run", async (type) => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started());
    for (const frame of frames(hello.slice(0, 4))) transport.push(frame);
    transport.push({ type, version: version(2), runId: "run_1", seq: 5, error: { message: "x" } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await states.next()).value?.activeRunId).toBe("run_1");
    const aborted = stateOf(4, { messages: [user("Hi"), said], runs: [runOf("aborted")] });
    transport.truth = aborted;
    transport.push({ type: "run.updated", version: version(4), run: runOf("aborted") });
    expect((await states.next()).value).toEqual(aborted);
    await states.return?.();
  });

  test("a resumed run goes on in the message that it had, from the base that is announced", async () => {
    const before = modelMessage([
      { type: "step-start" },
      { type: "tool-ask", toolCallId: "c1", state: "input-available", input: { q: 1 } },
    ]);
    const resumed = stateOf(5, { messages: [user("Hi"), before], runs: [runOf("running")], activeRunId: "run_1" });
    const transport = scriptedTransport(resumed);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started([before], "run_1", 5));
    const chunks = [start(), { type: "tool-output-available", toolCallId: "c1", output: "yes" }];
    for (const frame of frames(chunks, { revision: 5 })) transport.push(frame);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const parts = (await states.next()).value?.messages[1]?.parts ?? [];
    expect(parts).toMatchObject([
      { type: "step-start" },
      { state: "output-available", input: { q: 1 }, output: "yes" },
    ]);
    await states.return?.();
  });

  test("what the run wrote after the base is cleared, keeps its place, and is written anew", async () => {
    const partial = modelMessage([textPart("stale")]);
    const context = { ...user("More", "context_1"), role: "system" as const };
    const known = stateOf(2, {
      messages: [user("Hi"), partial, context],
      runs: [runOf("running")],
      activeRunId: "run_1",
    });
    const transport = scriptedTransport(known);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started());
    expect((await states.next()).value?.messages[1]?.parts).toEqual([]);
    for (const frame of frames(hello)) transport.push(frame);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const value: ThreadState | undefined = (await states.next()).value;
    expect(value?.messages.map(({ id }) => id)).toEqual(["user_1", "msg_1", "context_1"]);
    expect(value?.messages[1]).toEqual(said);
    await states.return?.();
  });
});

describe("thread", () => {
  test("queue items come and go", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    const item = { queueItemId: "q1", runId: "run_2", message: user("Later", "user_2", "run_2"), createdAt: "" };
    transport.push({ type: "queue-item-added", version: version(3), item });
    expect((await states.next()).value?.queue.items).toEqual([item]);
    const removed = {
      type: "queue-item-removed",
      version: version(4),
      runId: "run_2",
      queueItemId: "q1",
      reason: "recalled",
    };
    transport.push(removed as Step);
    expect((await states.next()).value?.queue.items).toEqual([]);
    await states.return?.();
  });

  test("state.changed reads the state", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.truth = done;
    transport.push({ type: "state.changed" });
    expect((await states.next()).value).toEqual(done);
    await states.return?.();
  });

  test("one watch serves all readers, and ends with the last", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const [one, two] = [thread.watch(), thread.watch()];
    expect((await one.next()).value).toBe((await two.next()).value);
    await one.return?.();
    transport.push({ type: "thread.head.changed", reason: "attributes", head: { ...running.thread, title: "T" } });
    expect((await two.next()).value?.thread.title).toBe("T");
    const stop = new AbortController();
    const three = thread.watch({ signal: stop.signal });
    expect((await three.next()).value?.thread.title).toBe("T");
    await two.return?.();
    const waiting = three.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
    expect(transport.calls).toEqual(["watchThread"]);
    await thread.watch().next();
    expect(transport.calls).toEqual(["watchThread", "watchThread"]);
  });

  test("a watch that the backend closes while nothing is generating ends with the last state", async () => {
    const transport = scriptedTransport(done, [snapshot(done), "close"]);
    const { thread } = clientOf(transport);
    const states: ThreadState[] = [];
    for await (const state of thread.watch()) states.push(state);
    expect(states.at(-1)).toEqual(done);
    expect(transport.calls).toEqual(["watchThread", "getThreadState"]);
  });

  test("an action is found by exactly its owners, and its run goes on", async () => {
    const part = { type: "tool-approve", toolCallId: "c1", state: "input-available", input: { memo: 1 } };
    const suspension = {
      actionId: "a1",
      toolCallId: "c1",
      action: "approval",
      suspendName: "approval",
      input: { message: "?" },
      status: "pending",
    };
    const message = modelMessage([part, { type: "data-pai-suspension", id: "a1", data: suspension }]);
    const record = {
      actionId: "a1",
      name: "approve.approval",
      toolName: "approve",
      suspendName: "approval",
      toolCallId: "c1",
      messageId: "msg_1",
      runId: "run_1",
      input: { message: "?" },
      createdAt: "",
    };
    const waiting = stateOf(
      4,
      { messages: [user("Hi"), message], runs: [runOf("waiting")], pending: [record] },
      "waiting",
    );
    const transport = scriptedTransport(waiting);
    const { thread } = clientOf(transport);
    const state = await thread.refresh();
    const found = state.messages.find(({ role }) => role === "assistant");
    const tool = found?.parts.find(isPaiToolPart);
    if (!found || !tool) throw new Error("Expected a waiting tool");
    expect(tool.pendingSuspension).toEqual({
      name: "approval",
      suspendName: "approval",
      input: { message: "?" },
      status: "pending",
    });
    expect(JSON.stringify(state)).not.toContain("a1");
    expect(thread.getPendingAction({ id: "msg_2" }, tool)).toBeUndefined();
    expect(thread.getPendingAction(found, { ...tool, toolCallId: "c2" })).toBeUndefined();
    expect(thread.getPendingAction(found, { ...tool, pendingSuspension: { name: "output" } })).toBeUndefined();
    const action = thread.getPendingAction(found, tool);
    expect(action).toMatchObject({ name: "approval", toolName: "approve", input: { message: "?" } });
    transport.truth = { ...done, thread: { ...done.thread, version: version(6) } };
    const { run } = (await action?.submit({ approved: true })) ?? {};
    expect(transport.calls.at(-2)).toBe(
      'submitAction {"threadId":"thread-1","actionId":"a1","output":{"approved":true}}',
    );
    expect(await run?.waitUntilIdle()).toEqual(transport.truth);
  });

  test("a run that waits is blocked, not idle", async () => {
    const waiting = stateOf(4, { runs: [runOf("waiting")] }, "waiting");
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const run = await thread.send("Hi");
    transport.truth = waiting;
    expect(await run.waitUntilBlocked()).toEqual(waiting);
    let idle = false;
    const over = run.waitUntilIdle().then((state) => {
      idle = true;
      return state;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(idle).toBe(false);
    transport.push("close");
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(idle).toBe(false);
    transport.truth = { ...done, thread: { ...done.thread, version: version(6) } };
    transport.push({ type: "state.changed" });
    expect(await over).toEqual(transport.truth);
  });

  test("a transport without watches is asked again and again while somebody waits", async () => {
    const transport = scriptedTransport(running);
    Object.assign(transport.supports, { watch: false });
    const { thread, slept } = clientOf(transport);
    const run = await thread.send("Hi");
    const over = run.waitUntilIdle();
    for (let _turn = 0; slept.length < 3; _turn++) await Promise.resolve();
    transport.truth = done;
    expect(await over).toEqual(done);
    expect(new Set(slept)).toEqual(new Set([250]));
    expect(transport.calls).not.toContain("watchThread");
  });

  test("a state that did not change is the same object", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started());
    for (const frame of frames(hello)) transport.push(frame);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { value } = await states.next();
    expect(thread.getState()).toBe(value);
    await states.return?.();
    expect(thread.getState()).toBe(value);
  });

  test("a send that was accepted is accepted, whatever becomes of the read behind it", async () => {
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    transport.getThreadState = () => Promise.reject(new Error("unreachable"));
    const run = await thread.send("Hi");
    expect(run.runId).toBe("run_1");
    expect(thread.getState()).toMatchObject({ thread: { status: "running" }, activeRunId: "run_1" });
  });

  test("a send beside a watch makes its run known before the watch does, and not after", async () => {
    const idle = stateOf(1);
    const transport = scriptedTransport(idle);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.truth = running;
    await thread.send("Hi");
    expect(thread.getState()).toMatchObject({
      thread: { status: "running", version: version(1) },
      activeRunId: "run_1",
    });
    transport.truth = done;
    transport.push({ type: "state.changed" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    transport.truth = running;
    await thread.send("Hi");
    expect(thread.getState()).toEqual(done);
    expect(transport.calls.filter((call) => call === "getThreadState")).toHaveLength(1);
    await states.return?.();
  });

  test("live-only data is shown over its message and leaves with the generation", async () => {
    const tool = { type: "tool-count", toolCallId: "c1", state: "input-available", input: {} };
    const transport = scriptedTransport(running);
    const { thread } = clientOf(transport);
    const states = thread.watch();
    await states.next();
    transport.push(started());
    const chunks = [start(), { type: "tool-input-available", toolCallId: "c1", toolName: "count", input: {} }];
    for (const frame of frames(chunks)) transport.push(frame);
    const live = (percent: number) => ({
      ...frames([
        {
          type: "data-pai-tool-data",
          id: "d1",
          transient: true,
          data: { toolCallId: "c1", name: "progress", data: { percent } },
        },
      ])[0],
      seq: 0,
    });
    transport.push(live(10));
    transport.push(live(50));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const shown = (await states.next()).value?.messages[1]?.parts ?? [];
    expect(shown).toMatchObject([{ ...tool, toolData: { progress: { percent: 50 } }, suspensions: [] }]);
    transport.push(frames([{ type: "finish" }], { from: 3 })[0] as Step);
    transport.truth = { ...done, messages: [user("Hi"), modelMessage([tool])] };
    transport.push(completed);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await states.next()).value?.messages[1]?.parts).toEqual([{ ...tool, suspensions: [], toolData: {} }]);
    expect(transport.calls).toEqual(["watchThread", "getThreadState"]);
    await states.return?.();
  });
});

describe("client", () => {
  test("calls reach the transport as they are, and parts that it lacks are named", async () => {
    const transport = scriptedTransport(done);
    const { client, thread } = clientOf(transport);
    expect(client.thread("thread-1")).toBe(thread);
    await thread.send({ text: "Hi", fileIds: ["file_1"] });
    await thread.retry();
    await thread.retry({ runId: "run_1" });
    await thread.regenerate({ messageId: "msg_1" });
    const commands = thread.commands as Record<string, (input: unknown) => Promise<unknown>>;
    expect(await commands.refresh?.({ a: 1 })).toBe("done");
    expect(await thread.rename("New")).toMatchObject({ title: "New" });
    expect(thread.getState().thread.title).toBe("New");
    await thread.writeToolData({ runId: "r", messageId: "m", toolCallId: "c", name: "n", data: 1 });
    await thread.delete();
    expect(transport.calls.filter((call) => !/^(getThreadState|watchThread)/.test(call))).toEqual([
      'send {"text":"Hi","fileIds":["file_1"],"threadId":"thread-1"}',
      'retry {"threadId":"thread-1"}',
      'retry {"runId":"run_1","threadId":"thread-1"}',
      'regenerate {"messageId":"msg_1","threadId":"thread-1"}',
      'executeCommand {"threadId":"thread-1","name":"refresh","input":{"a":1}}',
      'renameThread {"threadId":"thread-1","title":"New"}',
      'writeToolData {"runId":"r","messageId":"m","toolCallId":"c","name":"n","data":1,"threadId":"thread-1"}',
      "deleteThread",
    ]);
    expect(await client.threads()).toEqual([done.thread]);
    expect(await client.getManifest()).toMatchObject({ name: "support" });
    expect(
      await client.files.upload({ filename: "a.txt", mediaType: "text/plain", body: new Blob(["a"]) }),
    ).toMatchObject({ fileId: "file_1" });
    expect(await (await client.files.read("file_1")).body.text()).toBe("a");
    expect(await client.files.createUrl("file_1")).toBeNull();
    Object.assign(transport, {
      supports: { watch: false, heads: false, files: false, commands: false, regeneration: false },
    });
    await expect(client.files.read("file_1")).rejects.toThrow("does not support files");
    await expect(commands.refresh?.(1)).rejects.toThrow("does not support commands");
    await expect(thread.regenerate()).rejects.toThrow("does not support regeneration");
    expect(() => thread.watch()).toThrow("does not support watch");
    expect(await Promise.resolve(thread.commands)).toBe(thread.commands);
    expect(() => createAgentClient(transport, { clocks: 1 } as never)).toThrow('no option "clocks"');
  });

  test("the list of threads, again whenever one changes", async () => {
    const transport = scriptedTransport(done);
    const head = done.thread;
    const later = { ...head, title: "Renamed", version: version(9) };
    const second = { ...head, id: "thread-2" };
    transport.watchThreadHeads = async function* () {
      yield { type: "snapshot", heads: [head] };
      yield { type: "thread.head.changed", reason: "attributes", head: later };
      yield { type: "thread.head.changed", reason: "attributes", head };
      yield { type: "thread.head.changed", reason: "created", head: second };
      yield { type: "thread.head.changed", reason: "deleted", head: { ...later, version: version(10) } };
      yield { type: "state.changed" };
      yield { type: "thread.head.changed", reason: "created", head: { ...head, version: version(1, "instance_2") } };
    };
    const lists: unknown[] = [];
    for await (const heads of clientOf(transport).client.heads()) lists.push(heads);
    expect(lists).toEqual([[head], [later], [later, second], [second], [head], [head]]);
  });
});
