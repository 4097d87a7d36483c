import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cassette, createDeck, type Fault, sweep, tapeFetch } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";

/**
 * What a sweep of an ordinary recording finds in the clients that people use. The expectations below are findings, written
 * down: how bytes are chunked never matters to any of them; a broken connection, a status and malformed JSON are errors in
 * all; an event that comes twice is believed; and a stream that ends early, in good order, is told apart from a complete
 * one only by the SDKs' helpers. Their plain iterators end as if the answer was whole, and an empty body is an answer.
 */

let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer({ paceMs: 1 });
});
afterAll(() => staging.close());

type Fetch = typeof globalThis.fetch;
type Program = (fetch: Fetch, maxRetries?: number) => Promise<string>;

const model = "staging-large";
const messages = [{ role: "user" as const, content: "When does the night train leave?" }];
const openai = (fetch: Fetch, maxRetries: number): OpenAI =>
  new OpenAI({
    baseURL: `${staging.url}/openai/v1`,
    apiKey: "sk-proj-0123456789abcdefghij",
    fetch,
    maxRetries,
    logLevel: "off",
  });
const anthropic = (fetch: Fetch, maxRetries: number): Anthropic =>
  new Anthropic({
    baseURL: `${staging.url}/anthropic`,
    apiKey: "sk-ant-api03-0123456789abcdefghij",
    fetch,
    maxRetries,
    logLevel: "off",
  });

/** Plain iterators, which take what comes; and the helpers, which want an answer to be whole. */
const plain: Record<string, Program> = {
  async openai(fetch, maxRetries = 0) {
    let text = "";
    const stream = await openai(fetch, maxRetries).chat.completions.create({ model, messages, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  },
  async anthropic(fetch, maxRetries = 0) {
    let text = "";
    const stream = await anthropic(fetch, maxRetries).messages.create({
      model,
      max_tokens: 99,
      messages,
      stream: true,
    });
    for await (const event of stream)
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    return text;
  },
};
const helpers: Record<string, Program> = {
  openai: async (fetch, maxRetries = 0) =>
    (await openai(fetch, maxRetries).chat.completions.stream({ model, messages }).finalContent()) ?? "",
  anthropic: (fetch, maxRetries = 0) =>
    anthropic(fetch, maxRetries).messages.stream({ model, max_tokens: 99, messages }).finalText(),
};

async function recording(program: Program): Promise<{ cassette: Cassette; whole: string }> {
  const deck = await createDeck({ mode: "record" });
  const whole = await program(tapeFetch(deck));
  await deck.finish();
  return { cassette: deck.cassette as Cassette, whole };
}

type Outcome = "same" | "failed" | "early" | "other";

async function outcomes(program: Program): Promise<{ fault: Fault; outcome: Outcome }[]> {
  const { cassette, whole } = await recording(program);
  const found: { fault: Fault; outcome: Outcome }[] = [];
  for (const { fault, cassette: variant } of sweep(cassette)) {
    const deck = await createDeck({ cassette: variant, unplayed: "ignore" });
    const text = await program(tapeFetch(deck)).catch(() => undefined);
    await deck.finish("failed");
    const outcome =
      text === undefined ? "failed" : text === whole ? "same" : whole.startsWith(text) ? "early" : "other";
    found.push({ fault, outcome });
  }
  return found;
}

const of = (found: { fault: Fault; outcome: Outcome }[], ...types: Fault["type"][]): Set<Outcome> =>
  new Set(found.filter(({ fault }) => types.includes(fault.type)).map(({ outcome }) => outcome));

describe.each(["openai", "anthropic"] as const)("a sweep over the %s SDK", (name) => {
  test("finds that its plain iterator takes a cut stream for a whole one", async () => {
    const found = await outcomes(plain[name] as Program);
    expect(found.length).toBeGreaterThan(35);
    expect(of(found, "tear", "coalesce", "delay")).toEqual(new Set(["same"]));
    expect(of(found, "reset", "status", "malformed")).toEqual(new Set(["failed"]));
    // No error: the text is simply shorter, or the whole of it where only the last events are gone.
    expect(of(found, "cut", "empty")).toEqual(new Set(["early"]));
    expect(of(found, "duplicate")).toEqual(new Set(["same", "other"]));
  });

  test("finds that its helper misses the end", async () => {
    const found = await outcomes(helpers[name] as Program);
    expect(of(found, "tear", "coalesce", "delay")).toEqual(new Set(["same"]));
    expect(of(found, "reset", "status", "malformed", "empty")).toEqual(new Set(["failed"]));
    expect(of(found, "cut")).toEqual(new Set(["failed"]));
  });
});

describe("a status laid over a recording", () => {
  test.each(["openai", "anthropic"] as const)(
    "is retried by the %s SDK, and consumes exactly what is there",
    async (name) => {
      const program = plain[name] as Program;
      const { cassette, whole } = await recording(program);
      const before = staging.requests.length;
      const deck = await createDeck({ cassette, faults: [{ type: "status", track: "t1", status: 500 }] });
      expect(await program(tapeFetch(deck), 1)).toBe(whole);
      expect(deck.played.map(({ id }) => id)).toEqual(["t1-status-500", "t1"]);
      expect([deck.remaining, deck.violations]).toEqual([0, []]);
      await deck.finish();
      expect(staging.requests.length).toBe(before);
    },
  );

  test("twice, with one retry: the error reaches the program, and the recorded answer is left", async () => {
    const program = plain.openai as Program;
    const { cassette } = await recording(program);
    const twice: Fault[] = [500, 500].map((status) => ({ type: "status", track: "t1", status }));
    const deck = await createDeck({ cassette, faults: twice });
    await expect(program(tapeFetch(deck), 1)).rejects.toThrow(/500/);
    expect(deck.unplayed.map(({ id }) => id)).toEqual(["t1"]);
    await expect(deck.finish()).rejects.toThrow(/never asked for/);
  });

  test("does not shift what comes behind it", async () => {
    const deck = await createDeck({ mode: "record" });
    const first = await plain.openai?.(tapeFetch(deck));
    const second = await helpers.openai?.(tapeFetch(deck));
    await deck.finish();
    const replay = await createDeck({
      cassette: deck.cassette as Cassette,
      faults: [
        { type: "status", track: "t1", status: 503 },
        { type: "tear", track: "t2", size: 3 },
      ],
    });
    expect(await plain.openai?.(tapeFetch(replay), 1)).toBe(first);
    expect(await helpers.openai?.(tapeFetch(replay))).toBe(second);
    await replay.finish();
  });
});
