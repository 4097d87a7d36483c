import { expect, test } from "vitest";
import { codexTurn } from "wiretape/process";

const types = (turn: Parameters<typeof codexTurn>[0]): unknown[] =>
  codexTurn(turn).map((event) => (event.item as { type?: string } | undefined)?.type ?? event.type);

test("a turn has the order of the real one: thread, turn, reasoning, text, items, error, one terminal event", () => {
  const items = [
    { type: "command_execution", command: "ls" },
    { id: "own", type: "file_change" },
  ];
  const turn = codexTurn({
    ...{ text: "done", reasoning: "hm", threadId: "t", usage: [10, 4, 3], items, error: "broken pipe", durationMs: 12 },
  });
  expect(turn).toEqual([
    { type: "thread.started", thread_id: "t" },
    { type: "turn.started" },
    { type: "item.completed", item: { id: "item_0", type: "reasoning", text: "hm" } },
    { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "done" } },
    { type: "item.completed", item: { id: "item_2", type: "command_execution", command: "ls" } },
    { type: "item.completed", item: { id: "own", type: "file_change" } },
    { type: "error", message: "broken pipe" },
    { type: "turn.completed", usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 }, duration_ms: 12 },
  ]);
});

test("a failed turn ends in turn.failed and in nothing else", () => {
  expect(codexTurn({ text: "a", failed: "no tokens", usage: [1, 0, 0] }).slice(-2)).toEqual([
    { type: "item.completed", item: { id: "item_0", type: "agent_message", text: "a" } },
    { type: "turn.failed", error: { message: "no tokens" } },
  ]);
});

test("what is left out is not there; the thread has a name of its own unless there is to be none", () => {
  expect(types({})).toEqual(["thread.started", "turn.started", "turn.completed"]);
  expect(codexTurn()[0]).toMatchObject({ thread_id: expect.stringMatching(/^[\w-]{36}$/) });
  expect(types({ threadId: null })).toEqual(["turn.started", "turn.completed"]);
  expect(codexTurn({ usage: null }).at(-1)).toEqual({ type: "turn.completed" });
  expect(types({ text: "" })).toContain("agent_message");
});

test("refuses unknown keys and a usage that is none", () => {
  expect(() => codexTurn({ thread_id: "x" } as never)).toThrow('"thread_id"');
  expect(() => codexTurn({ usage: [1, 2] as never })).toThrow("[input, cachedInput, output]");
});
