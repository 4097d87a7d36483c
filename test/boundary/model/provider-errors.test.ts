import { APICallError, LoadAPIKeyError, NoSuchModelError } from "@ai-sdk/provider";
import { generateText, RetryError } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tapeModel } from "wiretape/model";
import { restoreProviderError, storeProviderError } from "../../../src/boundary/model/provider-errors.ts";
import { restorePart, storePart } from "../../../src/boundary/model/stored-part.ts";
import "../../support/settled.ts";
import { both, handMade, partsOf, streamOf } from "./hand-made-model.ts";

const callError = (more: Partial<ConstructorParameters<typeof APICallError>[0]> = {}): APICallError =>
  new APICallError({
    message: "Overloaded",
    url: "https://api.example/v1/chat",
    requestBodyValues: { model: "m", messages: [] },
    statusCode: 529,
    responseHeaders: { "retry-after-ms": "7", "x-request-id": "r1" },
    responseBody: '{"error":"overloaded"}',
    data: { error: "overloaded" },
    ...more,
  });

/** An error as a program of the AI SDK sees it. */
function facts(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const own = Object.fromEntries(Object.entries(error).filter(([, value]) => value !== undefined));
  const { name: _, ...rest } = own;
  return { name: error.name, message: error.message, ...rest, cause: facts(error.cause) };
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value));

describe("an error that is made anew", () => {
  test.each([
    ["that may be tried again", callError()],
    ["that may not", callError({ statusCode: 400 })],
    ["that its provider says may not", callError({ statusCode: 500, isRetryable: false })],
    ["that its provider says may", callError({ statusCode: 400, isRetryable: true })],
    ["without a status", callError({ statusCode: undefined as never, cause: new TypeError("fetch failed") })],
  ])("%s counts as the AI SDK's own, with all that it carries", (_, error) => {
    const { stored, details } = throughJson(storeProviderError(error));
    const again = restoreProviderError(stored, details);
    expect(APICallError.isInstance(again)).toBe(true);
    expect(NoSuchModelError.isInstance(again)).toBe(false);
    expect(again).toBeInstanceOf(Error);
    expect(facts(again)).toEqual(facts(error));
    expect((again as APICallError).isRetryable).toBe(error.isRetryable);
    expect("code" in again).toBe(false);
  });

  test("of another kind", () => {
    const missing = new NoSuchModelError({ modelId: "m", modelType: "languageModel" });
    const { stored, details } = storeProviderError(missing);
    const again = restoreProviderError(stored, details);
    expect(NoSuchModelError.isInstance(again)).toBe(true);
    expect(facts(again)).toEqual(facts(missing));
    const key = storeProviderError(new LoadAPIKeyError({ message: "no key" }));
    expect(key.details).toBeUndefined();
    expect(LoadAPIKeyError.isInstance(restoreProviderError(key.stored))).toBe(true);
  });

  test("that is caused by one: the AI SDK reads the headers of the cause", () => {
    const outer = Object.assign(new Error("gateway", { cause: callError() }), {
      name: "GatewayRateLimitError",
      statusCode: 429,
      isRetryable: true,
      [Symbol.for("vercel.ai.gateway.error")]: true,
      [Symbol.for("vercel.ai.gateway.error.GatewayRateLimitError")]: true,
    });
    const { stored, details } = throughJson(storeProviderError(outer));
    expect(stored).toMatchObject({ code: 429, cause: { code: 529 } });
    const again = restoreProviderError(stored, details) as typeof outer & { cause: APICallError };
    expect(APICallError.isInstance(again.cause)).toBe(true);
    expect(again.cause.responseHeaders).toEqual({ "retry-after-ms": "7", "x-request-id": "r1" });
    expect(again).toMatchObject({ statusCode: 429, isRetryable: true });
    expect((again as Record<symbol, unknown>)[Symbol.for("vercel.ai.gateway.error")]).toBe(true);
  });

  test("of a name like the AI SDK's that is not its own is not taken for it", () => {
    const impostor = Object.assign(new Error("no"), { name: "AI_APICallError", code: 7, socket: () => 1 });
    const { stored, details } = throughJson(storeProviderError(impostor));
    const again = restoreProviderError(stored, details);
    expect(APICallError.isInstance(again)).toBe(false);
    expect(again).toMatchObject({ code: 7 });
    expect("statusCode" in again).toBe(false);
  });

  test.each(["a text", 7, undefined, null, { status: 400 }])(
    "%j that was thrown becomes an error that says so",
    (thrown) => {
      const { stored } = storeProviderError(thrown);
      expect(restoreProviderError(stored)).toBeInstanceOf(Error);
    },
  );
});

describe("the AI SDK retries a replay as it retried the real model", () => {
  test("a refusal is retried at the pace that its headers ask for, and the answer comes", async () => {
    const began = performance.now();
    const { seen, text } = await both(async (deck, phase) => {
      const model = tapeModel(deck, () => {
        if (phase === "replay") throw new Error("made");
        return handMade({
          generate: (_, call) => {
            if (call <= 2) throw callError({ statusCode: 429 });
            return {
              content: [{ type: "text", text: "at last" }],
              finishReason: { unified: "stop", raw: undefined },
              usage: { inputTokens: {}, outputTokens: {} },
              warnings: [],
            };
          },
        });
      });
      return (await generateText({ model: model as never, prompt: "x" })).text;
    });
    expect(seen).toBe("at last");
    expect(JSON.parse(text).tracks).toHaveLength(3);
    expect(performance.now() - began).toBeLessThan(1500);
  });

  test("what is not retried, and what is given up after the retries", async () => {
    const { seen, text } = await both(async (deck, phase) => {
      const model = tapeModel(deck, () => {
        if (phase === "replay") throw new Error("made");
        return handMade({
          generate: (_, call) => {
            throw callError(call === 1 ? { statusCode: 500, isRetryable: false } : { statusCode: 500 });
          },
        });
      });
      const ask = () => generateText({ model: model as never, prompt: "x" }).catch((error: unknown) => error);
      const [once, thrice] = [await ask(), await ask()];
      expect(APICallError.isInstance(once)).toBe(true);
      expect(RetryError.isInstance(thrice)).toBe(true);
      return [facts(once), (thrice as RetryError).errors.map(facts)];
    });
    expect(JSON.parse(text).tracks).toHaveLength(4);
    expect((seen as [unknown, unknown[]])[1]).toHaveLength(3);
  });
});

describe("any part survives", () => {
  const leaf = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.webUrl().map((url) => new URL(url)),
  );
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom("type", "error", "details", "$error", "$literal", "__proto__", "$date"),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("value")), fc.dictionary(key, tie("value"))),
  }));
  const error = fc
    .record({
      message: fc.string(),
      name: fc.constantFrom("Error", "TypeError", "AI_APICallError", "Own"),
      status: leaf,
    })
    .map(({ message, name, status }) => {
      const made = name === "TypeError" ? new TypeError(message) : new Error(message);
      if (made.name !== name) Object.defineProperty(made, "name", { value: name });
      return Object.assign(made, { statusCode: 429, status });
    });
  const part = fc.oneof(
    fc.record(
      { type: fc.constantFrom("text-delta", "finish", "error", "raw"), delta: value, rawValue: value },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("error"), error: fc.oneof(error, value) }),
    // What looks like the stored form of an error is a part like any other.
    fc.record({ type: fc.constant("error"), error: fc.string().map((text) => new Error(text)), details: value }),
    fc.record({ type: fc.constant("error"), error: fc.record({ $error: value }), details: value }),
    fc.dictionary(key, value),
  );

  test("through its stored form, as JSON text", () => {
    fc.assert(
      fc.property(part, (one) => {
        const again = restorePart(throughJson(storePart(one))) as Record<string, unknown>;
        expect(again).toEqual(one);
        expect(Object.keys(again)).toEqual(Object.keys(one));
        const { error: was } = one as { error?: unknown };
        if (was instanceof Error && Object.keys(one).length === 2) expect(facts(again.error)).toEqual(facts(was));
      }),
      { numRuns: 500 },
    );
  });

  test("through a recording and a replay of its stream", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const { seen } = await both(async (deck, phase) => {
          const model = tapeModel(deck, () => {
            if (phase === "replay") throw new Error("made");
            return handMade({ stream: () => ({ stream: streamOf(parts) }) });
          });
          return partsOf((await model.doStream({ prompt: [] })).stream);
        });
        expect(seen).toEqual(parts);
      }),
      { numRuns: 60 },
    );
  });
});
