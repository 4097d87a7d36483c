import { createAgentClient } from "../../src/agent/client.ts";
import type { ThreadState } from "../../src/agent/project.ts";
import {
  delta,
  frames,
  modelMessage,
  runOf,
  type ScriptedTransport,
  type Step,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

export const hello = [
  start(),
  { type: "start-step" },
  { type: "text-start", id: "t1" },
  delta("Hel"),
  delta("lo"),
  { type: "text-end", id: "t1" },
  { type: "finish-step" },
  { type: "finish" },
];
export const running = stateOf(2, { messages: [user("Hi")], runs: [runOf("running")], activeRunId: "run_1" });
export const said = modelMessage([{ type: "step-start" }, textPart("Hello")]);
export const done = stateOf(3, { messages: [user("Hi"), said], runs: [runOf("completed")] });
export const snapshot = (state = running): Step => ({ type: "snapshot", state });
export const completed: Step = { type: "generation.completed", version: version(3), runId: "run_1" };

export function clientOf(transport: ScriptedTransport) {
  const slept: number[] = [];
  const client = createAgentClient(transport, {
    clock: { now: () => 0, sleep: async (ms) => void slept.push(ms) },
  });
  return { thread: client.thread("thread-1"), client, slept };
}

export const textOf = (state: ThreadState | undefined): string =>
  (state?.messages.flatMap(({ parts }) => parts) ?? [])
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "Hi")
    .join("");

export const appended = () => ({ type: "message.appended", version: version(2), message: user("Hi") });

/** Has the next watches play these scripts. */
export function replaceScripts(transport: ScriptedTransport, scripts: readonly Step[][]): void {
  transport.scripts.splice(0, transport.scripts.length, ...scripts);
}

/** The rest of a story in which everything goes well from here on. */
export function wellEnded(transport: ScriptedTransport): Step[] {
  return [snapshot(), started(), ...frames(hello), () => void (transport.truth = done), completed];
}
