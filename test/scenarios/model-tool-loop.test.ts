import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDeck, type Deck, ScriptExhausted, tapeFetch } from "wiretape";
import { tapeModel } from "wiretape/model";
import { z } from "zod";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { chain } from "../boundary/model/hand-made-model.ts";
import "../support/settled.ts";
import { twice } from "../support/twice.ts";

const KEY = "sk-proj-0123456789abcdefghij";
let staging: StagingServer | undefined;
let url = "";
// A server of its own for each test, which closes it between recording and replay.
beforeEach(async () => {
  staging = await startStagingServer({ paceMs: 2 });
  url = `${staging.url}/openai/v1`;
});
const close = async (): Promise<void> => {
  await staging?.close();
  staging = undefined;
};
afterEach(close);

const openai = (fetch?: typeof globalThis.fetch) =>
  createOpenAI({ apiKey: KEY, baseURL: url, ...(fetch === undefined ? {} : { fetch }) });

/** What the tool was asked, beside what came out. */
function weather() {
  const asked: unknown[] = [];
  const get_weather = tool({
    description: "Tells the weather",
    inputSchema: z.object({ location: z.string() }),
    execute: async (input) => {
      asked.push(input);
      return { degrees: 12, sky: "rain" };
    },
  });
  return { asked, tools: { get_weather } };
}

const question = { prompt: "What is the weather in New York?", stopWhen: stepCountIs(3) };

/** A whole agent: a tool loop in one piece and one streamed, and an answer that is refused once and retried. */
async function agent(model: LanguageModel): Promise<unknown> {
  const whole = weather();
  const generated = await generateText({ model, tools: whole.tools, ...question });
  const live = weather();
  const parts: unknown[] = [];
  const streamed = streamText({
    model,
    tools: live.tools,
    ...question,
    includeRawChunks: true,
    onChunk: ({ chunk }) => void parts.push(structuredClone(chunk)),
  });
  const full: unknown[] = [];
  for await (const part of streamed.fullStream) full.push(structuredClone(part));
  const retried = await generateText({ model, prompt: "Tell me of the rate limit once" });
  const facts = ({ text, steps, totalUsage }: Pick<typeof generated, "text" | "steps" | "totalUsage">): unknown => ({
    text,
    totalUsage,
    steps: steps.map(({ content, finishReason, usage, request, response, warnings, providerMetadata }) => {
      return structuredClone({ content, finishReason, usage, request, response, warnings, providerMetadata });
    }),
  });
  return {
    generated: facts(generated),
    asked: [whole.asked, live.asked],
    parts,
    full,
    streamed: facts({ text: await streamed.text, steps: await streamed.steps, totalUsage: await streamed.totalUsage }),
    retried: retried.text,
  };
}

describe.each([
  ["chat", "gpt-chat"],
  ["responses", "gpt-responses"],
] as const)("the AI SDK's tool loop over OpenAI's %s API", (api, id) => {
  const atModel = (deck: Deck, phase: { replays: boolean }): Promise<unknown> =>
    agent(
      tapeModel(deck, () => {
        if (phase.replays) throw new Error("replay made the model");
        return openai()[api](id);
      }),
    );
  const atWire = (fetch: typeof globalThis.fetch): Promise<unknown> => agent(openai(fetch)[api](id));

  test("replays at the boundary of the model and at the wire, and is the same at both", async () => {
    const phase = { replays: false };
    const modelTape = await twice((_, deck) => atModel(deck, phase), {
      gone: async () => {
        phase.replays = true;
        await close();
      },
    });
    staging = await startStagingServer({ paceMs: 2 });
    url = `${staging.url}/openai/v1`;
    const wireTape = await twice((fetch) => atWire(fetch), { gone: close });
    const { tracks, vars } = JSON.parse(modelTape.text);
    expect(tracks).toHaveLength(6); // two tool loops of two steps, a refusal and its retry
    expect(tracks.map(({ kind }: { kind: string }) => kind)).toEqual(Array(6).fill("model"));
    expect(vars["model-1"]).toMatchObject({ specificationVersion: "v3", provider: `openai.${api}`, modelId: id });
    expect(tracks[4].error).toMatchObject({ name: "AI_APICallError", code: 429 });
    expect(modelTape.text).not.toContain(KEY);
    expect(wireTape.text).not.toContain(KEY);
    expect(modelTape.recorded).toMatchObject({ asked: [[{ location: "New York" }], [{ location: "New York" }]] });
  });

  test("one step more than was recorded is ScriptExhausted, also where streamText swallows it", async () => {
    const { store } = await twice((_, deck) => {
      const model = tapeModel(deck, () => openai()[api](id));
      return generateText({ model, tools: weather().tools, ...question }).then(({ text }) => text);
    });
    const deck = await createDeck({ store, mode: "replay" });
    const model = tapeModel(deck, (): never => expect.fail("made"));
    await generateText({ model, tools: weather().tools, ...question });
    const failure = await generateText({ model, tools: weather().tools, ...question }).catch((error: unknown) => error);
    expect(chain(failure).some((one) => one instanceof ScriptExhausted)).toBe(true);
    const errors: unknown[] = [];
    const streamed = streamText({
      model,
      tools: weather().tools,
      ...question,
      onError: ({ error }) => void errors.push(error),
    });
    await streamed.consumeStream();
    expect(errors).toEqual([expect.any(ScriptExhausted)]);
    await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
  });

  test("the same at the wire, where the provider wraps what fetch throws", async () => {
    const { store } = await twice((fetch) =>
      generateText({ model: openai(fetch)[api](id), prompt: "hello", maxRetries: 0 }).then(({ text }) => text),
    );
    const deck = await createDeck({ store, mode: "replay" });
    const model = openai(tapeFetch(deck))[api](id);
    await generateText({ model, prompt: "hello" });
    const failure = await generateText({ model, prompt: "hello", maxRetries: 0 }).catch((error: unknown) => error);
    expect(chain(failure).some((one) => one instanceof ScriptExhausted)).toBe(true);
    await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
  });

  test("a stream that the program aborts in the middle ends there again, by the AI SDK's own signal", async () => {
    const program = async (deck: Deck): Promise<unknown> => {
      const stop = new AbortController();
      const aborted: number[] = [];
      const streamed = streamText({
        model: tapeModel(deck, () => openai()[api](id)),
        prompt: "When does the night train to Prague leave?",
        abortSignal: stop.signal,
        onAbort: ({ steps }) => void aborted.push(steps.length),
      });
      const types: string[] = [];
      let deltas = 0;
      for await (const { type } of streamed.fullStream) {
        types.push(type);
        if (type === "text-delta" && ++deltas === 2) stop.abort();
      }
      return { types, aborted };
    };
    const { recorded, text } = await twice((_, deck) => program(deck), { gone: close });
    expect(recorded).toMatchObject({ aborted: [0] });
    expect(JSON.parse(text).tracks[0].end).toMatchObject({ by: "client" });
  });
});
