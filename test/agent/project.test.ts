import { expect, test } from "vitest";
import { projectMessage, projectState } from "../../src/agent/project.ts";
import { isPaiToolPart } from "../../src/agent/tool-part.ts";
import { modelMessage, runOf, stateOf, textPart, user } from "./scripted-transport.ts";

const call = (toolCallId: string, rest: object = {}) => ({
  type: "tool-approve",
  toolCallId,
  state: "input-available",
  input: { memo: 1 },
  ...rest,
});
const suspension = (toolCallId: string, action: string, rest: object = {}) => ({
  type: "data-pai-suspension",
  id: `${toolCallId}.${action}`,
  data: { actionId: `id of ${action}`, toolCallId, action, input: { ask: action }, status: "pending", ...rest },
});
const toolData = (toolCallId: string, name: string, data: unknown) => ({
  type: "data-pai-tool-data",
  data: { toolCallId, name, data },
});

test("reserved parts go to the tool part that they belong to, in order, and are seen nowhere else", () => {
  const message = modelMessage([
    suspension("c1", "first", { status: "submitted", output: { ok: true } }),
    textPart("Asking."),
    call("c1"),
    call("c2", { type: "dynamic-tool", toolName: "look" }),
    suspension("c1", "second", { suspendName: "second" }),
    toolData("c1", "progress", 10),
    toolData("c1", "progress", 90),
    toolData("c1", "note", "n"),
    { type: "data-pai-future", data: {} },
    { type: "data-pay", data: 1 },
  ]);
  const before = structuredClone(message);
  const projected = projectMessage(message);
  const second = { name: "second", suspendName: "second", input: { ask: "second" }, status: "pending" };
  expect(projected).toEqual({
    ...message,
    parts: [
      textPart("Asking."),
      {
        ...call("c1"),
        suspensions: [{ name: "first", input: { ask: "first" }, status: "submitted", output: { ok: true } }, second],
        pendingSuspension: second,
        toolData: { progress: 90, note: "n" },
      },
      { ...call("c2", { type: "dynamic-tool", toolName: "look" }), suspensions: [], toolData: {} },
      { type: "data-pay", data: 1 },
    ],
  });
  expect(message).toEqual(before);
  expect(projectMessage(message)).toBe(projected);
  expect(projectMessage(structuredClone(message))).toEqual(projected);
});

test("what is reserved and belongs to no tool, or says nothing, is left out", () => {
  const odd = [suspension("c9", "x"), { type: "data-pai-suspension", data: null }, { type: "data-pai-tool-data" }];
  expect(projectMessage(modelMessage([call("c1"), ...odd])).parts).toEqual([
    { ...call("c1"), suspensions: [], toolData: {} },
  ]);
});

test("names of tools and data are names, whatever they say", () => {
  const data = projectMessage(modelMessage([call("__proto__"), toolData("__proto__", "__proto__", 1)])).parts[0];
  expect(Object.getOwnPropertyNames((data as { toolData: object }).toolData)).toEqual(["__proto__"]);
});

test("a state keeps everything but what is private", () => {
  const pending = {
    actionId: "a1",
    name: "approve.first",
    toolName: "approve",
    toolCallId: "c1",
    messageId: "msg_1",
    runId: "run_1",
    input: 1,
    createdAt: "",
  };
  const queued = { queueItemId: "q1", runId: "run_2", createdAt: "", message: user("Later", "user_2", "run_2") };
  const raw = {
    ...stateOf(4, { messages: [user("Hi")], runs: [runOf("waiting")], pending: [pending], queue: { items: [queued] } }),
    future: { kept: true },
  };
  const { actionId, ...view } = pending;
  expect(projectState(raw)).toEqual({ ...raw, pending: [view] });
  expect(JSON.stringify(projectState(raw))).not.toContain(actionId);
  expect(projectState(raw)).toEqual(projectState(structuredClone(raw)));
});

test("a tool's part is known by its type", () => {
  const parts = [
    textPart("x"),
    call("c1"),
    { type: "dynamic-tool", toolName: "look", toolCallId: "c2" },
    { type: "tool" },
  ];
  expect(parts.filter(isPaiToolPart)).toEqual([parts[1], parts[2]]);
});
