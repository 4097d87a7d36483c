import { describe, expect, test } from "vitest";
import { CancellationToken } from "../../src/doubles/cancellation-token.ts";
import { FakeLLM } from "../../src/doubles/fake-llm.ts";
import { FakeTool } from "../../src/doubles/fake-tool.ts";
import { Invoker } from "../../src/doubles/invoker.ts";
import { makeTestCtx } from "../../src/doubles/make-test-ctx.ts";
import { RecordingTracer } from "../../src/doubles/recording-tracer.ts";
import { RunContext } from "../../src/doubles/run-context.ts";
import { ScriptedAdapter, ScriptedAdapterExhausted } from "../../src/doubles/scripted-adapter.ts";
import { OPENAI_API, scriptedRuntime } from "../../src/doubles/scripted-runtime.ts";
import { OptionInvalid, ScriptExhausted } from "../../src/errors.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hi" }] };

describe("ScriptedAdapter", () => {
  test("gives its turns, then fails loudly", async () => {
    const adapter = new ScriptedAdapter([{ content: "one" }]);
    expect(await adapter.send({ a: 1 })).toMatchObject({ content: "one" });
    const error = await adapter.send({ a: 2 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ScriptedAdapterExhausted);
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect((error as Error).name).toBe("ScriptedAdapterExhausted");
    expect([adapter.remaining, adapter.calls, adapter.violations]).toEqual([0, [{ a: 1 }, { a: 2 }], [error]]);
    adapter.expectViolation("script-exhausted");
  });

  test("takes any request and any list, and holds a turn until its event was seen", async () => {
    const trace: object[] = [];
    const adapter = new ScriptedAdapter(new Set([{ content: "late", after: { kind: "go" } }]), {
      trace: trace as never,
    });
    let said = "";
    const asked = adapter.send({ run: () => 1 }).then(({ content }) => (said = content));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(said).toBe("");
    trace.push({ kind: "go" });
    await asked;
    expect([said, adapter.trace]).toEqual(["late", [{ kind: "call", op: "send" }]]);
    expect(() => new ScriptedAdapter(5 as never)).toThrow(/takes a list of turns/);
  });
});

describe("scriptedRuntime", () => {
  const pricing = { m: { input: 2, output: 10 }, cached: { input: 2, output: 10, cachedInput: 1 } };
  const turns = [
    { content: "one", usage: { inputTokens: 100, outputTokens: 5, cachedInputTokens: 40 } },
    { content: "", toolCalls: [{ id: "c", name: "t", args: {} }], usage: { inputTokens: 1, outputTokens: 0 } },
    { content: "free" },
  ];

  test("prices usage, cached input apart where it has its own price", async () => {
    const seen: number[] = [];
    const runtime = scriptedRuntime(turns, pricing, { onCall: ({ cost }) => seen.push(cost) });
    expect(runtime.mode).toBe(OPENAI_API);
    expect(await runtime.call({ ...ask, model: "cached" })).toMatchObject({
      content: "one",
      finish: "stop",
      cost: 60 * 2 + 40 * 1 + 5 * 10,
    });
    expect(await runtime.call(ask)).toMatchObject({ finish: "tool_calls", cost: 2 });
    expect(await runtime.call(ask)).toMatchObject({ cost: 0, usage: { inputTokens: 0, outputTokens: 0 } });
    expect(runtime.totals).toEqual({
      calls: 3,
      usage: { inputTokens: 101, outputTokens: 5, cachedInputTokens: 40 },
      cost: 212,
    });
    expect(seen).toEqual([210, 2, 0]);
    runtime.adapter.expectViolation("script-exhausted");
    await expect(runtime.call(ask)).rejects.toThrow(ScriptedAdapterExhausted);
  });

  test("an unknown model throws, and takes no turn", async () => {
    const runtime = scriptedRuntime(turns, pricing, { mode: { name: "other" } });
    await expect(runtime.call({ ...ask, model: "cache" })).rejects.toThrow(
      /no price for the model "cache"; did you mean "cached"/,
    );
    expect([runtime.mode.name, runtime.adapter.remaining]).toEqual(["other", 3]);
    expect(() => scriptedRuntime(turns, undefined as never)).toThrow(OptionInvalid);
    expect(() => scriptedRuntime(turns, { m: { input: 1 } } as never)).toThrow(
      /of m: output is a number from 0; got und/,
    );
    expect(() => scriptedRuntime(turns, { m: { input: 1, outptu: 1 } } as never)).toThrow(/did you mean "output"/);
    await expect(runtime.call({ ...ask, model: "toString" })).rejects.toThrow(/no price for the model "toString"/);
    expect(() => scriptedRuntime(turns, pricing, { mod: 1 } as never)).toThrow(/did you mean "mode"/);
  });
});

describe("makeTestCtx", () => {
  test("builds a real context whose defaults do nothing", () => {
    const ctx = makeTestCtx();
    expect(ctx).toBeInstanceOf(RunContext);
    expect([ctx.services.invoker, ctx.correlationId, ctx.autonomy, ctx.scope, ctx.budget]).toEqual([
      null,
      "test-run",
      "auto",
      {},
      {},
    ]);
    expect(ctx.trace.span("s", "k", {}, () => 7)).toBe(7);
    using span = ctx.trace.span("s", "k");
    span.set("a", 1);
    ctx.observer.emit({});
    expect(ctx.trace.currentSpanId()).toBeUndefined();
    // What is undefined is left out: the default stands.
    expect(ctx.trace.span("s", "k", () => 8)).toBe(8);
    expect(makeTestCtx({ trace: undefined, observer: undefined }).trace.span("s", "k", {}, () => 1)).toBe(1);
  });

  test("takes a model, which it wraps, or an invoker, and not both", async () => {
    const llm = new FakeLLM("yes", { usage: { inputTokens: 3, outputTokens: 2 } });
    const order: string[] = [];
    const metered: string[] = [];
    const ctx = makeTestCtx({
      llm,
      scope: { orgId: "o", domainId: "d" },
      chatMiddleware: ["a", "b"].map((name) => async (request, next) => {
        order.push(`>${name}`);
        const result = await next(request);
        order.push(`<${name}`);
        return { ...result, content: `${result.content}${name}` };
      }),
      meters: [{ record: ({ model, result }) => metered.push(`${model} ${result.usage.inputTokens}`) }],
    });
    expect((await ctx.chat(ask)).content).toBe("yesba");
    expect([order, metered, ctx.spent]).toEqual([[">a", ">b", "<b", "<a"], ["m 3"], { calls: 1, tokens: 5 }]);
    const invoker = new Invoker({ llm });
    expect(makeTestCtx({ invoker }).services.invoker).toBe(invoker);
    expect(() => makeTestCtx({ llm, invoker })).toThrow(/got both/);
    expect(() => makeTestCtx({ invoker, chatMiddleware: [async (request, next) => next(request)] })).toThrow(
      /brings its own/,
    );
    expect(() => makeTestCtx({ chatMiddleware: [async (request, next) => next(request)] })).toThrow(/there is none/);
    await expect(makeTestCtx().chat(ask)).rejects.toThrow(/no model/);
    expect(() => makeTestCtx({ budget: { maxCall: 1 } as never })).toThrow(/did you mean "maxCalls"/);
    expect(() => makeTestCtx({ autonomy: "full" as never })).toThrow(/autonomy is "full"/);
    expect(() => makeTestCtx({ budjet: {} } as never)).toThrow(/did you mean "budget"/);
  });

  test("keeps a budget, and stops when it is cancelled", async () => {
    const cancel = new CancellationToken();
    const ctx = makeTestCtx({ llm: new FakeLLM("x"), budget: { maxCalls: 2 }, cancel });
    await ctx.chat(ask);
    await ctx.chat(ask);
    await expect(ctx.chat(ask)).rejects.toMatchObject({ name: "BudgetExceeded" });
    cancel.cancel(new Error("stop"));
    await expect(ctx.chat(ask)).rejects.toThrow("stop");
    await expect(ctx.invokeTool(new FakeTool(), {})).rejects.toThrow("stop");
    expect([cancel.cancelled, cancel.signal.aborted]).toEqual([true, true]);
  });

  test("streams are metered and kept to the budget as chats are", async () => {
    const metered: unknown[] = [];
    const ctx = makeTestCtx({
      llm: new FakeLLM("hello, world", { usage: { inputTokens: 3, outputTokens: 2 } }),
      budget: { maxTokens: 5 },
      meters: [{ record: ({ result }) => metered.push([result.content, result.usage.outputTokens]) }],
    });
    let text = "";
    for await (const { content } of ctx.stream(ask)) text += content;
    expect([text, metered, ctx.spent]).toEqual(["hello, world", [["hello, world", 2]], { calls: 1, tokens: 5 }]);
    await expect(ctx.stream(ask).next()).rejects.toMatchObject({ name: "BudgetExceeded" });
  });

  test("a call that is under way ends when the run is cancelled", async () => {
    const cancel = new CancellationToken();
    const ctx = makeTestCtx({
      llm: new FakeLLM("x", { delay: 60 }),
      asker: { ask: () => new Promise(() => undefined) },
      cancel,
    });
    const waiting = [ctx.chat(ask), ctx.invokeTool(new FakeTool({ requiresApproval: true }), {})];
    setTimeout(() => cancel.cancel(new Error("stop")), 5);
    expect(await Promise.allSettled(waiting)).toMatchObject(
      waiting.map(() => ({ status: "rejected", reason: { message: "stop" } })),
    );
    expect(() => ctx.checkCancelled()).toThrow("stop");
  });

  test("autonomy: auto and gated ask for what requires it, manual for everything", async () => {
    for (const [autonomy, asked] of [
      ["auto", 1],
      ["gated", 1],
      ["manual", 2],
    ] as const) {
      const questions: string[] = [];
      const asker = { ask: async ({ tool }: { tool: string }) => questions.push(tool) > 0 };
      const ctx = makeTestCtx({ autonomy, asker });
      await ctx.invokeTool(new FakeTool({ name: "read" }), {});
      await ctx.invokeTool(new FakeTool({ name: "pay", requiresApproval: true }), {});
      expect(questions).toHaveLength(asked);
    }
  });

  test("a gated call is parked until the asker answers", async () => {
    const tool = new FakeTool({ requiresApproval: true, responder: "done" });
    let answer!: (approved: boolean) => void;
    const ctx = makeTestCtx({ asker: { ask: () => new Promise((resolve) => (answer = resolve)) } });
    const parked = ctx.invokeTool(tool, { a: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(tool.calls).toEqual([]);
    answer(true);
    expect(await parked).toBe("done");
    const refused = ctx.invokeTool(tool, {});
    answer(false);
    await expect(refused).rejects.toMatchObject({ name: "ToolCallRefused" });
    expect(tool.calls).toEqual([{ a: 1 }]);
  });

  test("without an asker a gated call is suspended, and checkpointed", async () => {
    const saved: unknown[] = [];
    const tool = new FakeTool({ name: "pay", requiresApproval: true });
    const ctx = makeTestCtx({
      checkpointer: { save: (checkpoint) => void saved.push(checkpoint) },
      correlationId: "run-7",
    });
    await expect(ctx.invokeTool(tool, { a: 1 })).rejects.toMatchObject({
      name: "ToolCallSuspended",
      tool: "pay",
      args: { a: 1 },
    });
    expect(saved).toEqual([{ correlationId: "run-7", tool: "pay", args: { a: 1 } }]);
    expect(tool.calls).toEqual([]);
  });

  test("tools run through their middleware, with the context", async () => {
    const trace = new RecordingTracer();
    const ctx = makeTestCtx({
      trace,
      toolMiddleware: [
        async (call, next) =>
          trace.span(call.tool.name, "tool", {}, () => next({ ...call, args: { ...call.args, b: 2 } })),
      ],
    });
    const tool = new FakeTool({ responder: (args: object) => args });
    expect(await ctx.invokeTool(tool, { a: 1 })).toEqual({ a: 1, b: 2 });
    expect(trace.spans.map(({ name }) => name)).toEqual(["fake_tool"]);
  });
});
