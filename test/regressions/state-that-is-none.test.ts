import { expect, test } from "vitest";
import { createAgentClient, createMockAgentTransport } from "wiretape/agent";
import { stateOf } from "../agent/scripted-transport.ts";

test.each([
  ["pending", [null]],
  ["pending", [{ name: "lookup.approval" }]],
  ["runs", ["run_1"]],
  ["runs", [{ runId: "run_1" }]],
])("a state whose %s are %j is told as malformed: it was a TypeError of the projection", async (key, value) => {
  const state = { ...stateOf(1), [key]: value } as never;
  const transport = { ...createMockAgentTransport(), getThreadState: async () => state };
  const thread = createAgentClient(transport).thread("thread-1");
  await expect(thread.refresh()).rejects.toThrow("the state of thread thread-1 is malformed");
});

test("a queue that holds no items is malformed as well", async () => {
  const state = { ...stateOf(1), queue: { items: [{ queueItemId: "q" }] } } as never;
  const transport = { ...createMockAgentTransport(), getThreadState: async () => state };
  await expect(createAgentClient(transport).thread("t").refresh()).rejects.toThrow("a message without id or role");
});
