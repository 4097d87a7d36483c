import { describe, expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import type { ThreadState } from "../../src/agent/project.ts";
import { isPaiToolPart } from "../../src/agent/tool-part.ts";
import {
  delta,
  frames,
  modelMessage,
  runOf,
  type ScriptedTransport,
  type Step,
  scriptedTransport,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

const hello = [
  start(),
  { type: "start-step" },
  { type: "text-start", id: "t1" },
  delta("Hel"),
  delta("lo"),
  { type: "text-end", id: "t1" },
  { type: "finish-step" },
  { type: "finish" },
];
const running = stateOf(2, { messages: [user("Hi")], runs: [runOf("running")], activeRunId: "run_1" });
const said = modelMessage([{ type: "step-start" }, textPart("Hello")]);
const done = stateOf(3, { messages: [user("Hi"), said], runs: [runOf("completed")] });
const snapshot = (state = running): Step => ({ type: "snapshot", state });
const completed: Step = { type: "generation.completed", version: version(3), runId: "run_1" };

function clientOf(transport: ScriptedTransport) {
  const slept: number[] = [];
  const client = createAgentClient(transport, {
    clock: { now: () => 0, sleep: async (ms) => void slept.push(ms) },
  });
  return { thread: client.thread("thread-1"), client, slept };
}

const textOf = (state: ThreadState | undefined): string =>
  (state?.messages.flatMap(({ parts }) => parts) ?? [])
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "Hi")
    .join("");

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
    expect(state).toEqual({ ...done, messages: [user("Hi"), said] });
    expect(transport.calls).toEqual([
      'send {"text":"Hi","threadId":"thread-1"}',
      "getThreadState",
      "watchThread",
      "getThreadState",
    ]);
    expect(await run.waitUntilIdle()).toBe(state);
    expect(await run.waitUntilBlocked()).toEqual(state);
    expect(transport.calls).toHaveLength(4);
  });
});
