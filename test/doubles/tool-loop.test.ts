import { expect, test } from "vitest";
import {
  FakeClock,
  FakeFetch,
  FakeLLM,
  FakeTool,
  type Message,
  makeTestCtx,
  RecordingTracer,
  type RunContext,
  type Tool,
  Turn,
} from "../../src/doubles.ts";
import { ScriptExhausted } from "../../src/errors.ts";

/** What a program under test is like: it asks, calls the tools that are asked for, and asks again. */
async function answer(ctx: RunContext, tools: readonly Tool[], question: string): Promise<string> {
  const messages: Message[] = [{ role: "user", content: question }];
  for (;;) {
    const { content, toolCalls } = await ctx.trace.span("chat:m", "llm", () => ctx.chat({ model: "m", messages }));
    if (toolCalls.length === 0) return content;
    messages.push({ role: "assistant", content, toolCalls });
    for (const { id, name, args } of toolCalls) {
      const tool = tools.find((one) => one.name === name) as Tool;
      const result = await ctx.trace.span(`execute_tool:${name}`, "tool", args, () => ctx.invokeTool(tool, args));
      messages.push({ role: "tool", content: JSON.stringify(result), toolCallId: id });
    }
  }
}

const look = new Turn({ toolCalls: [{ id: "c1", name: "look", args: { url: "https://a.test/" } }] });

test("a loop over tools runs on doubles alone, and everything that it did can be seen", async () => {
  const clock = new FakeClock(100);
  const web = new FakeFetch({ "https://a.test/": { status: 200, body: "rain" } });
  const tool = new FakeTool({
    name: "look",
    responder: async ({ url }: { url: string }) => {
      await clock.sleep(3);
      return (await web.fetch(url)).body;
    },
  });
  const llm = FakeLLM.script([look, "It rains."], { usage: { inputTokens: 10, outputTokens: 5 }, delay: 1, clock });
  const trace = new RecordingTracer();
  const ctx = makeTestCtx({ llm, trace });
  expect(await answer(ctx, [tool], "How is the weather?")).toBe("It rains.");
  expect(trace.spans.map(({ name }) => name)).toEqual(["chat:m", "execute_tool:look", "chat:m"]);
  expect([tool.calls, web.calls, llm.remaining]).toEqual([[{ url: "https://a.test/" }], ["https://a.test/"], 0]);
  expect(llm.calls[1]?.messages.at(-1)).toEqual({ role: "tool", content: '"rain"', toolCallId: "c1" });
  expect([clock.now(), clock.sleeps, ctx.spent]).toEqual([105, [1, 3, 1], { calls: 2, tokens: 30 }]);
});

test("a loop that does not end asks for more than there is", async () => {
  const llm = FakeLLM.script([look, look]);
  const ctx = makeTestCtx({ llm });
  llm.expectViolation("script-exhausted");
  await expect(answer(ctx, [new FakeTool({ name: "look" })], "Go on.")).rejects.toThrow(ScriptExhausted);
});

test("a script that is meant not to end is cut by a budget", async () => {
  const llm = FakeLLM.script([look], { repeatLast: true });
  const ctx = makeTestCtx({ llm, budget: { maxCalls: 7 } });
  const tool = new FakeTool({ name: "look" });
  await expect(answer(ctx, [tool], "Go on.")).rejects.toMatchObject({ name: "BudgetExceeded" });
  expect([tool.calls.length, llm.violations]).toEqual([7, []]);
});
