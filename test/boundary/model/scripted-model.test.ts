import { APICallError } from "@ai-sdk/provider";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { afterEach, describe, expect, test } from "vitest";
import { OptionInvalid, ScriptExhausted } from "wiretape";
import { type ScriptedModel, scriptedModel } from "wiretape/model";
import { z } from "zod";
import { ledger } from "../../../src/engine/ledger.ts";
import "../../support/settled.ts";
import { ask, chain, partsOf } from "./hand-made-model.ts";

// The AI SDK's remarks about older versions of its specification.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const open = (model: object): unknown[] =>
  ledger()
    .entries.filter(({ owner, acknowledged }) => owner === model && !acknowledged)
    .map(({ error }) => error);

const lookUp = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `12 °C in ${city}`,
});
const loop = { tools: { lookUp }, stopWhen: stepCountIs(5) };
const toolTurn = { text: "Let me see.", toolCalls: [{ toolName: "lookUp", input: { city: "Prague" } }] };
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2 };
const prompt = "How warm is it?";

describe.each(["v2", "v3"] as const)("a tool loop of the AI SDK, specification %s", (version) => {
  const script = (): ScriptedModel<"v2" | "v3"> =>
    scriptedModel([toolTurn, { text: "12 °C.", reasoning: "It is told.", usage }], { version, usage });

  test("generateText", async () => {
    const model = script();
    const result = await generateText({ model: model as ScriptedModel, prompt, ...loop });
    expect(result.text).toBe("12 °C.");
    expect(result.reasoningText).toBe("It is told.");
    expect(result.finishReason).toBe("stop");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(result.steps[0]?.toolResults).toMatchObject([{ toolCallId: "call-1", output: "12 °C in Prague" }]);
    expect(result.totalUsage).toMatchObject({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
    expect(result.totalUsage.cachedInputTokens).toBe(8);
    expect(model.remaining).toBe(0);
    expect(model.calls.map(({ method }) => method)).toEqual(["doGenerate", "doGenerate"]);
    expect(model.calls[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("streamText", async () => {
    const model = script();
    const result = streamText({ model: model as ScriptedModel, prompt, ...loop });
    const deltas: string[] = [];
    for await (const delta of result.textStream) deltas.push(delta);
    expect(deltas).toEqual(["Let", " me", " see.", "12", " °C."]);
    expect(await result.finishReason).toBe("stop");
    expect(await result.totalUsage).toMatchObject({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
    expect((await result.steps)[0]?.toolResults).toMatchObject([{ output: "12 °C in Prague" }]);
    expect(model.calls.map(({ method }) => method)).toEqual(["doStream", "doStream"]);
  });
});

describe("running out", () => {
  test("generateText rejects with ScriptExhausted, and the ledger keeps it past an empty catch", async () => {
    const model = scriptedModel([toolTurn, toolTurn]);
    const failure = await generateText({ model, prompt, ...loop }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ScriptExhausted);
    expect((failure as Error).message).toMatch(
      /^scriptedModel has 2 turns and was asked for turn 3\.\n {2}asked {5}"How warm is it\?"\n {2}next .*repeatLast: true/,
    );
    expect(open(model)).toEqual([failure]);
    expect(model.violations).toEqual([failure]);
    expect(model.calls).toHaveLength(3);
  });

  test("streamText tells onError, ends, and the ledger keeps it", async () => {
    const model = scriptedModel([toolTurn]);
    const errors: unknown[] = [];
    const result = streamText({ model, prompt, ...loop, onError: ({ error }) => void errors.push(error) });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe("Let me see.");
    expect(errors).toEqual([expect.any(ScriptExhausted)]);
    expect(open(model)).toEqual(errors);
  });

  test("a test announces it once, whatever the retries", async () => {
    const model = scriptedModel([]);
    model.expectViolation("script-exhausted");
    for (let i = 0; i < 3; i++) await expect(model.doGenerate(ask("x") as never)).rejects.toThrow(ScriptExhausted);
    await expect(model.doStream(ask("x") as never)).rejects.toThrow(/has no turn and was asked for turn 4/);
    expect(open(model)).toEqual([]);
    expect(model.violations).toHaveLength(4);
  });

  test("repeatLast never runs out, and gives a fresh answer each time", async () => {
    const model = scriptedModel(["one", { content: [{ type: "text", text: "two" }] }], { repeatLast: true });
    const texts: string[] = [];
    for (let i = 0; i < 4; i++) {
      const result = await model.doGenerate(ask("x") as never);
      texts.push((result.content[0] as { text: string }).text);
      (result.content[0] as { text: string }).text = "scribbled";
    }
    expect(texts).toEqual(["one", "two", "two", "two"]);
    expect(model.remaining).toBe(0);
    const none = scriptedModel([], { repeatLast: true });
    await expect(none.doGenerate(ask("x") as never)).rejects.toThrow(ScriptExhausted);
  });
});

describe("rules for one answer do not run out", () => {
  test.each([
    ["a text", scriptedModel("yes"), "yes"],
    ["a function", scriptedModel((messages) => `${messages.length}`), "1"],
    ["an asynchronous function", scriptedModel(async () => ({ text: "later" })), "later"],
    ["a dictionary", scriptedModel({ cold: "no", warm: { text: "rather" }, is: "never" }), "rather"],
    ["a dictionary without a match", scriptedModel({ cold: "no" }), "{}"],
  ])("%s", async (_, model, expected) => {
    for (let i = 0; i < 3; i++) expect((await generateText({ model, prompt })).text).toBe(expected);
    expect(model.remaining).toBe(Number.POSITIVE_INFINITY);
    expect(model.calls).toHaveLength(3);
  });

  test("generateObject reads what a dictionary answers", async () => {
    const model = scriptedModel({ warm: '{"degrees": 12}' });
    const { object } = await generateObject({ model, prompt, schema: z.object({ degrees: z.number() }) });
    expect(object).toEqual({ degrees: 12 });
  });
});

describe("failing", () => {
  test("failTimes fails before any turn, and the AI SDK retries at once", async () => {
    const model = scriptedModel(["late"], { failTimes: 2 });
    const began = performance.now();
    expect((await generateText({ model, prompt })).text).toBe("late");
    expect(performance.now() - began).toBeLessThan(1500); // without the header the first retry alone waits 2 s
    expect(model.calls).toHaveLength(3);
    const failing = scriptedModel(["late"], { failTimes: 1 });
    const failure = await generateText({ model: failing, prompt, maxRetries: 0 }).catch((error: unknown) => error);
    expect(APICallError.isInstance(failure)).toBe(true);
    expect(failure).toMatchObject({ statusCode: 503, isRetryable: true });
    expect(failing.remaining).toBe(1);
  });

  test("failWith, an Error as a turn, and an error of a turn are thrown as they are", async () => {
    const own = new RangeError("own");
    const model = scriptedModel([own, { error: "a text" }, "fine"], { failTimes: 1, failWith: own });
    await expect(model.doGenerate(ask("x") as never)).rejects.toBe(own);
    expect(model.remaining).toBe(3);
    await expect(model.doStream(ask("x") as never)).rejects.toBe(own);
    await expect(model.doStream(ask("x") as never)).rejects.toBe("a text");
    expect((await model.doGenerate(ask("x") as never)).content).toEqual([{ type: "text", text: "fine" }]);
    expect(model.violations).toEqual([]);
  });

  test("an error beside a text breaks the stream after it", async () => {
    const broken = new Error("cut");
    const model = scriptedModel([{ text: ["a", "b"], error: broken }], { repeatLast: true });
    const { stream } = await model.doStream(ask("x") as never);
    const parts = await partsOf(stream);
    expect(parts.map((part) => (part as { type?: string }).type)).toEqual([
      "stream-start",
      "text-start",
      "text-delta",
      "text-delta",
      "text-end",
      undefined,
    ]);
    expect(parts.at(-1)).toEqual({ broke: broken });
    await expect(model.doGenerate(ask("x") as never)).rejects.toBe(broken);
  });
});

describe("parts", () => {
  const parts = [
    { type: "stream-start", warnings: [{ type: "other", message: "old" }] },
    { type: "response-metadata", id: "r1", timestamp: new Date(0) },
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "hm" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "a" },
    { type: "reasoning-end", id: "0" },
    { type: "text-delta", id: "0", delta: "b" },
    { type: "text-end", id: "0" },
    { type: "source", sourceType: "url", id: "s", url: "https://a.example/" },
    { type: "file", mediaType: "image/png", data: Uint8Array.of(1, 2) },
    { type: "finish", finishReason: { unified: "length", raw: "max" }, usage: {} },
  ];

  test("stream as they are, and make the whole answer that they are the stream of", async () => {
    const model = scriptedModel([{ parts }, { parts }]);
    const { stream } = await model.doStream(ask("x") as never);
    expect(await partsOf(stream)).toEqual(parts);
    expect(await model.doGenerate(ask("x") as never)).toEqual({
      content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "ab" }, parts[9], parts[10]],
      finishReason: { unified: "length", raw: "max" },
      usage: {},
      warnings: [{ type: "other", message: "old" }],
      response: { id: "r1", timestamp: new Date(0) },
    });
  });

  test("an error part fails the whole answer", async () => {
    const error = new Error("overloaded");
    const model = scriptedModel([{ parts: [{ type: "error", error }] }]);
    await expect(model.doGenerate(ask("x") as never)).rejects.toBe(error);
  });
});

describe("time and aborts", () => {
  const clock = { now: () => 0, slept: [] as number[] };
  afterEach(() => void clock.slept.splice(0));
  const sleep = async (ms: number): Promise<void> => void clock.slept.push(ms);

  test("delays are seconds of the clock; a turn's own wins", async () => {
    const model = scriptedModel(["a", { text: "b", delay: 0.25 }], { delay: 2, clock: { ...clock, sleep } });
    await model.doGenerate(ask("x") as never);
    await model.doStream(ask("x") as never);
    expect(clock.slept).toEqual([2000, 250]);
  });

  test("an abort ends a delay with its reason", async () => {
    const model = scriptedModel("late", { delay: 60 });
    const stop = new AbortController();
    const waiting = model.doGenerate({ ...ask("x"), abortSignal: stop.signal } as never);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(model.doStream({ ...ask("x"), abortSignal: stop.signal } as never)).rejects.toThrow("enough");
  });

  test("an abort ends a stream between two parts; a timer can fire there", async () => {
    const model = scriptedModel([{ text: Array.from({ length: 5000 }, (_, i) => `${i} `) }]);
    const stop = new AbortController();
    const { stream } = await model.doStream({ ...ask("x"), abortSignal: stop.signal } as never);
    setTimeout(() => stop.abort(new Error("enough")), 5);
    const parts = await partsOf(stream);
    expect(parts.at(-1)).toEqual({ broke: new Error("enough") });
    expect(parts.length).toBeLessThan(5000);
  });
});

test("calls are copies, without the signal; a mutated prompt was recorded as it was", async () => {
  const model = scriptedModel("yes");
  const asked = { ...ask("first"), headers: { a: undefined }, abortSignal: new AbortController().signal };
  await model.doGenerate(asked as never);
  (asked.prompt as { content: { text: string }[] }[])[0]!.content[0]!.text = "changed";
  expect(model.calls).toEqual([
    { method: "doGenerate", prompt: ask("first").prompt, options: { ...ask("first"), headers: { a: undefined } } },
  ]);
});

describe("what is no script is refused when it is scripted", () => {
  test.each([
    [() => scriptedModel([{ txt: "a" } as never]), /Turn 1 .*unknown key "txt"/],
    [() => scriptedModel(["a", {} as never]), /Turn 2 .*says nothing/],
    [() => scriptedModel([{ text: "a", parts: [] }]), /says it twice/],
    [() => scriptedModel([{ parts: [], usage: {} }]), /parts, which tell/],
    [() => scriptedModel([{ toolCalls: [{ name: "x" }] } as never]), /unknown key "name"/],
    [() => scriptedModel([{ toolCalls: [{}] } as never]), /without a toolName/],
    [() => scriptedModel([{ toolCalls: {} } as never]), /"toolCalls", which is no list/],
    [() => scriptedModel([{ text: "a", delay: -1 }]), /no number of seconds/],
    [() => scriptedModel([null as never]), /is null/],
    [() => scriptedModel({ text: "a" } as never), /looks like one turn \(text\)/],
    [() => scriptedModel(7 as never), /got number/],
    [() => scriptedModel([], { repeat: true } as never), /no option repeat/],
    [() => scriptedModel([], { failTimes: -1 }), /failTimes is/],
    [() => scriptedModel([], { delay: Number.NaN }), /delay is/],
    [() => scriptedModel([], { version: "v1" } as never), /version is/],
  ])("%#", (make, message) => {
    expect(make).toThrow(OptionInvalid);
    expect(make).toThrow(message);
  });

  test("and what a function returns, when it returns it", async () => {
    await expect(scriptedModel(() => undefined as never).doGenerate(ask("x") as never)).rejects.toThrow(/is undefined/);
  });
});

test("a scripted model is a model of version 4 as well", async () => {
  const model = scriptedModel([toolTurn], { version: "v4" });
  expect(model.specificationVersion).toBe("v4");
  expect(await model.doGenerate(ask("x") as never)).toMatchObject({
    finishReason: { unified: "tool-calls" },
    usage: { inputTokens: { total: undefined } },
  });
  expect(chain(undefined)).toEqual([]);
});
