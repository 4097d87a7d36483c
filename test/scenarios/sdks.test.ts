import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CassetteStore, createDeck, isWiretapeError, ScriptExhausted, tapeFetch, WiretapeError } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import "../support/settled.ts";
import { again, twice } from "../support/twice.ts";

let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer({ paceMs: 2 });
});
afterAll(() => staging.close());

type Fetch = typeof globalThis.fetch;

const openai = (fetch: Fetch, maxRetries = 2): OpenAI =>
  new OpenAI({ apiKey: "sk-proj-0123456789abcdefghij", baseURL: `${staging.url}/openai/v1`, fetch, maxRetries });
const anthropic = (fetch: Fetch, maxRetries = 2): Anthropic =>
  new Anthropic({
    apiKey: "sk-ant-api03-0123456789abcdefghij",
    baseURL: `${staging.url}/anthropic`,
    fetch,
    maxRetries,
  });

const model = "staging-large";
const ask = (content: string): { role: "user"; content: string }[] => [{ role: "user", content }];
const weather = "What is the weather in New York?";
const parameters = { type: "object" as const, properties: { location: { type: "string" } } };

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** An agent on the OpenAI SDK: lists, asks, streams, calls a tool and hands in its result. */
async function openaiAgent(fetch: Fetch): Promise<unknown[]> {
  const client = openai(fetch);
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters } }];
  const models = (await client.models.list()).data.map(({ id }) => id);
  const whole = await client.chat.completions.create({
    model,
    messages: ask("When does the night train to Prague leave?"),
  });
  const streamed = await collect(
    await client.chat.completions.create({
      model,
      messages: ask("Where is order 77?"),
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  const { message } = (
    await client.chat.completions.stream({ model, messages: ask(weather), tools }).finalChatCompletion()
  ).choices[0]!;
  const call = message.tool_calls![0]!;
  const result = { role: "tool" as const, tool_call_id: call.id, content: "12 °C, rain" };
  const answer = await client.chat.completions.create({ model, messages: [...ask(weather), message, result], tools });
  const responses = await collect(await client.responses.create({ model, input: "hello", stream: true }));
  const limited = await client.chat.completions.create({ model, messages: ask("Tell me of the rate limit once") });
  return [models, whole, streamed, message, answer, responses, limited];
}

async function anthropicAgent(fetch: Fetch): Promise<unknown[]> {
  const client = anthropic(fetch);
  const base = { model, max_tokens: 200 };
  const tools = [{ name: "get_weather", input_schema: parameters }];
  const whole = await client.messages.create({ ...base, messages: ask("When does the night train to Prague leave?") });
  const streamed = await collect(
    await client.messages.create({ ...base, messages: ask("Where is order 77?"), stream: true }),
  );
  const called = await client.messages.stream({ ...base, messages: ask(weather), tools }).finalMessage();
  const use = called.content.find((block) => block.type === "tool_use")!;
  const result = {
    role: "user" as const,
    content: [{ type: "tool_result" as const, tool_use_id: use.id, content: "12 °C" }],
  };
  const turn = { role: "assistant" as const, content: called.content };
  const answer = await client.messages.create({ ...base, messages: [...ask(weather), turn, result], tools });
  const limited = await client.messages.create({ ...base, messages: ask("Tell me of the rate limit once") });
  return [whole, streamed, called, answer, limited];
}

describe("a whole agent records and replays with the server gone, event for event", () => {
  test.each([
    ["the OpenAI SDK", openaiAgent, 8],
    ["the Anthropic SDK", anthropicAgent, 6],
  ])("%s", async (_, agent, tracks) => {
    const own = await startStagingServer({ paceMs: 2 });
    const at = staging;
    staging = own;
    try {
      const { recorded, text, store } = await twice(agent, { gone: own.close });
      expect(JSON.stringify(recorded)).toContain("get_weather");
      expect(JSON.parse(text).tracks).toHaveLength(tracks); // the 429 and its retry are two
      expect(text).not.toMatch(/sk-proj-0123|sk-ant-api03/);
      expect(text).toMatch(/"sse": \{ ("event": "\w+", )?"json": \{/);
      expect((await again(store, agent)).replayed).toEqual(recorded);
    } finally {
      staging = at;
    }
  });
});

/** A cassette that holds one streamed answer of each SDK. */
async function oneStream(program: (fetch: Fetch) => Promise<unknown>): Promise<CassetteStore> {
  return (await twice(program)).store;
}

type Stream = (fetch: Fetch, maxRetries?: number, signal?: AbortSignal) => Promise<AsyncIterable<unknown>>;
const streamOpenai: Stream = (fetch, maxRetries, signal) =>
  openai(fetch, maxRetries).chat.completions.create(
    { model, messages: ask("Where is order 12?"), stream: true },
    signal === undefined ? {} : { signal },
  );
const streamAnthropic: Stream = (fetch, maxRetries, signal) =>
  anthropic(fetch, maxRetries).messages.create(
    { model, max_tokens: 50, messages: ask("Where is order 12?"), stream: true },
    signal === undefined ? {} : { signal },
  );

const sdks: [string, Stream][] = [
  ["the OpenAI SDK", streamOpenai],
  ["the Anthropic SDK", streamAnthropic],
];

/** The chain of causes of an error, itself first. */
function chain(error: unknown): unknown[] {
  const all: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && all.length < 10; at = (at as Error).cause) all.push(at);
  return all;
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

describe("exhaustion is loud through an SDK that wraps and retries", () => {
  test.each(sdks)("%s: our error is in the chain of causes, and finish() fails all the same", async (_, stream) => {
    const store = await oneStream(async (fetch) => (await collect(await stream(fetch))).length);
    const deck = await createDeck({ store, mode: "replay" });
    const fetch = tapeFetch(deck);
    expect((await collect(await stream(fetch))).length).toBeGreaterThan(3);

    const wrapped = await failure(stream(fetch, 1));
    expect(wrapped).not.toBeInstanceOf(WiretapeError); // the SDK's own error …
    expect(chain(wrapped).some((one) => one instanceof ScriptExhausted)).toBe(true); // … because of ours
    const ended = (await failure(deck.finish())) as ScriptExhausted;
    expect(ended).toBeInstanceOf(ScriptExhausted);
    expect(ended.message).toContain("The deck saw 2 violations"); // the call and its retry
    expect(ended.message).toMatch(/was recorded once and is asked for a 2nd time/);
  });

  test.each(sdks)("%s: a test that expects it announces it once, whatever the retries", async (_, stream) => {
    const store = await oneStream(async (fetch) => (await collect(await stream(fetch))).length);
    const deck = await createDeck({ store, mode: "replay" });
    const fetch = tapeFetch(deck);
    await collect(await stream(fetch));
    deck.expectViolation("script-exhausted");
    await failure(stream(fetch, 1));
    await expect(deck.finish()).resolves.toMatchObject({ outcome: "passed", played: 1 });
    expect(deck.violations).toHaveLength(2);
  });

  test.each(sdks)("%s: an abort-and-retry loop ends in ScriptExhausted", async (_, stream) => {
    const store = await oneStream(async (fetch) => (await collect(await stream(fetch))).length);
    const deck = await createDeck({ store, mode: "replay" });
    const fetch = tapeFetch(deck);
    let attempts = 0;
    let last: unknown;
    // What makes a naive replay go round for ever: abort as soon as the answer begins, and ask again.
    for (; attempts < 50; attempts++) {
      const controller = new AbortController();
      try {
        const events = await stream(fetch, 0, controller.signal);
        for await (const _event of events) {
          controller.abort();
          break;
        }
      } catch (error) {
        last = error;
        break;
      }
    }
    expect(attempts).toBe(1);
    expect(chain(last).find(isWiretapeError)).toMatchObject({ code: "script-exhausted" });
    await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
  });
});
