import { expect, test } from "vitest";
import { createMockAgentClient } from "wiretape/agent";

const version = { threadInstanceId: "instance_1", revision: 9 };
const head = { id: "t", title: null, status: "idle", metadata: {}, version, createdAt: "", updatedAt: "" };

test.each([
  { type: "snapshot", state: { thread: head, messages: 0, runs: [], pending: [], queue: { items: [] } } },
  { type: "snapshot", state: { thread: head } },
  { type: "run.updated", version, run: "run_1" },
  { type: "message.appended", version, message: null },
  { type: "queue-item-added", version, item: { queueItemId: "q" } },
])(
  "a malformed $type that a test pushes is for the client to repair: the mock's own state was broken by it",
  async (event) => {
    const { client, responses, events, inspect } = createMockAgentClient();
    responses.queue((r) => r.assistant([r.text("One.")]));
    const thread = client.thread("t");
    await (await thread.send("Hello")).waitUntilIdle();
    const before = inspect.thread("t");
    const leaving = new AbortController();
    const watch = thread.watch({ signal: leaving.signal });
    await watch.next();
    events.pushThread("t", event as never);
    responses.queue((r) => r.assistant([r.text("Two.")]));
    expect(inspect.thread("t")).toEqual(before);
    const state = await (await thread.send("Again")).waitUntilIdle();
    expect(state.messages).toHaveLength(4);
    leaving.abort();
  },
);
