import { describe, expect, test } from "vitest";
import { FakeLLM } from "../../src/doubles/fake-llm.ts";
import { type ChatMiddleware, Invoker } from "../../src/doubles/invoker.ts";
import type { ChatResult, Delta, LLMPort } from "../../src/doubles/ports.ts";
import { OptionInvalid } from "../../src/errors.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hi" }] };
const usage = { inputTokens: 1, outputTokens: 2 };
async function read(deltas: AsyncIterable<Delta>): Promise<string[]> {
  const all: string[] = [];
  for await (const { content, finish } of deltas) all.push(finish ?? content);
  return all;
}
const retry: ChatMiddleware = async (request, next) => {
  for (let left = 3; ; left--) {
    try {
      return await next(request);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
};
/** A model whose stream says three pieces, one a turn of the event loop, and breaks after the second, if it is to. */
function pieces(breaks: boolean): LLMPort & { told: string[] } {
  const told: string[] = [];
  return {
    told,
    chat: () => Promise.reject(new Error("streams only")),
    async *stream() {
      try {
        for (const content of ["a", "b"]) {
          await new Promise((resolve) => setImmediate(resolve));
          told.push(content);
          yield { content };
        }
        if (breaks) throw new Error("broken");
        yield { content: "c" };
        yield { content: "", finish: "stop", usage, toolCalls: [] };
      } finally {
        told.push("left");
      }
    },
  };
}

describe("a stream", () => {
  test("goes through the middleware, which is given the whole of it", async () => {
    const seen: ChatResult[] = [];
    const chatMiddleware: ChatMiddleware[] = [
      async (request, next) => {
        const result = await next({ ...request, model: "other" });
        seen.push(result);
        return { ...result, usage: { inputTokens: 9, outputTokens: 9 } };
      },
    ];
    const llm = new FakeLLM("hello, world", { usage });
    const deltas: Delta[] = [];
    for await (const delta of new Invoker({ llm, chatMiddleware }).stream(ask)) deltas.push(delta);
    expect(deltas).toEqual([
      { content: "hello, w" },
      { content: "orld" },
      { content: "", finish: "stop", toolCalls: [], usage: { inputTokens: 9, outputTokens: 9 } },
    ]);
    expect(seen).toEqual([{ content: "hello, world", toolCalls: [], usage, finish: "stop" }]);
    expect(llm.calls.map(({ model }) => model)).toEqual(["other"]);
  });

  test("that fails before its first piece can be asked for again, as a retry does", async () => {
    const llm = FakeLLM.script(["one"], { failTimes: 2, failExc: new Error("busy") });
    expect(await read(new Invoker({ llm, chatMiddleware: [retry] }).stream(ask))).toEqual(["one", "stop"]);
    expect(llm.calls).toHaveLength(3);
    const none = new FakeLLM("x", { failTimes: 9, failExc: new Error("busy") });
    await expect(read(new Invoker({ llm: none, chatMiddleware: [retry] }).stream(ask))).rejects.toThrow("busy");
  });

  test("that fails later is not begun anew: what came is not taken back", async () => {
    const got: string[] = [];
    const reading = (async () => {
      for await (const { content } of new Invoker({ llm: pieces(true), chatMiddleware: [retry] }).stream(ask))
        got.push(content);
    })();
    await expect(reading).rejects.toThrow("A stream that has begun cannot be asked for again.");
    expect(got).toEqual(["a", "b"]);
    await expect(read(new Invoker({ llm: pieces(true) }).stream(ask))).rejects.toThrow("broken");
  });

  test("that middleware answers itself comes in one piece", async () => {
    const cached: ChatMiddleware = async () => ({ content: "cached", toolCalls: [], usage, finish: "stop" });
    const llm = FakeLLM.script([]);
    expect(await read(new Invoker({ llm, chatMiddleware: [cached] }).stream(ask))).toEqual(["cached", "stop"]);
    expect(llm.calls).toEqual([]);
  });

  test("is read one piece ahead at most, and ends when its reader leaves", async () => {
    const llm = pieces(false);
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 9; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    for await (const _ of new Invoker({ llm }).stream(ask)) {
      await turns();
      expect(llm.told).toEqual(["a", "b"]);
      break;
    }
    await turns();
    expect(llm.told).toEqual(["a", "b", "left"]);
  });
});

test("what is no model is refused", () => {
  expect(() => new Invoker({ llm: {} as never })).toThrow(OptionInvalid);
  expect(() => new Invoker({ llm: { chat: async () => undefined } as never })).toThrow(/chat\(\) and stream\(\)/);
});
