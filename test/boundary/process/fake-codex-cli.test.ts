import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { FakeCodexCli } from "wiretape/process";

test("answering: one whole turn a text, each announcing the thread", async () => {
  const fake = FakeCodexCli.answering("first", "second", { threadId: "t-1" });
  expect(fake.remaining).toBe(2);
  const turns = await Promise.all(["first", "second"].map(() => text(fake.spawn("codex", ["exec"]).stdout)));
  expect(
    turns.map((turn) =>
      turn
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ),
  ).toEqual(
    ["first", "second"].map((said) => [
      { type: "thread.started", thread_id: "t-1" },
      { type: "turn.started" },
      { type: "item.completed", item: { id: "item_0", type: "agent_message", text: said } },
      { type: "turn.completed", usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 } },
    ]),
  );
  expect(FakeCodexCli.answering().remaining).toBe(0);
  expect(() => FakeCodexCli.answering("a", { thread: "x" } as never)).toThrow("threadId");
  expect(() => FakeCodexCli.answering("a", 7 as never)).toThrow("number");
});

test("argv: the latest spawn's, or any, and none is told", () => {
  const fake = FakeCodexCli.answering("1", "2", "3");
  expect(() => fake.argv()).toThrow("there were 0 spawns");
  for (const word of ["a", "b", "c"]) fake.spawn("codex", ["exec", word]).kill();
  expect([fake.argv(), fake.argv(0), fake.argv(-2)]).toEqual([
    ["codex", "exec", "c"],
    ["codex", "exec", "a"],
    ["codex", "exec", "b"],
  ]);
  expect(() => fake.argv(3)).toThrow("there were 3 spawns");
});
