import { describe, expect, test } from "vitest";
import {
  createDeck,
  type Deck,
  type ModelTrack,
  memoryStore,
  OptionInvalid,
  ScriptExhausted,
  UnrecordedRequest,
} from "wiretape";
import { tapeModel } from "wiretape/model";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import { ask, both, type HandMade, handMade, partsOf, streamOf } from "./hand-made-model.ts";

const versions = ["v2", "v3", "v4"] as const;

/** What only the older or the newer versions have. */
const usage = {
  v2: { inputTokens: 3, outputTokens: undefined, totalTokens: undefined },
  v3: {
    inputTokens: { total: 3, noCache: undefined, cacheRead: 0, cacheWrite: undefined },
    outputTokens: { total: 1, text: undefined, reasoning: undefined },
    raw: { prompt_tokens: 3 },
  },
  v4: { inputTokens: { total: 3 }, outputTokens: { total: 1 } },
};

const answer = (version: (typeof versions)[number]): object => ({
  content: [
    { type: "text", text: "Grüße 👋", providerMetadata: undefined },
    { type: "file", mediaType: "image/png", data: Uint8Array.of(0, 255, 10) },
    { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{ "city":"Ä" }' },
    { type: "source", sourceType: "url", id: "s", url: "https://a.example/?q=1" },
    ...(version === "v4" ? [{ type: "custom", kind: "a.b", value: new Map([["k", 1n]]) }] : []),
  ],
  finishReason: version === "v2" ? "stop" : { unified: "stop", raw: undefined },
  usage: usage[version],
  providerMetadata: { hand: { at: new Date(0), big: 2n ** 70n, nothing: Number.NaN, minus: -0 } },
  request: { body: { model: "model/1", seed: undefined, place: new URL("https://b.example/") } },
  response: {
    id: "r1",
    timestamp: new Date("2026-11-30T21:00:00.000Z"),
    headers: { "x-one": "1", "x-none": undefined },
    body: { list: [undefined, null] },
  },
  warnings: [],
});

/** A taped model that must not be made in a replay. */
const taped = (deck: Deck, phase: string, made: HandMade, name?: string) =>
  tapeModel(
    deck,
    () => {
      if (phase === "replay") throw new Error("replay made the model");
      return handMade(made);
    },
    name === undefined ? {} : { name },
  );

const track = (cassette: { tracks: readonly unknown[] }, i = 0): ModelTrack => cassette.tracks[i] as ModelTrack;

describe.each(versions)("specification %s", (version) => {
  test("a whole answer comes back as it was, with everything that came with it", async () => {
    const { seen, cassette } = await both(async (deck, phase) => {
      const model = taped(deck, phase, { version, generate: () => answer(version) });
      const { specificationVersion, provider, modelId } = model;
      return [specificationVersion, provider, modelId, await model.doGenerate(ask("hi"))];
    });
    expect(seen).toEqual([version, "hand.made", "model/1", answer(version)]);
    const [, , , result] = seen as [
      unknown,
      unknown,
      unknown,
      { response: { headers: object }; providerMetadata: { hand: { minus: number } } },
    ];
    expect(Object.keys(result.response.headers)).toEqual(["x-one", "x-none"]);
    expect(Object.is(result.providerMetadata.hand.minus, -0)).toBe(true);
    expect(track(cassette).call.name).toBe("hand.made/model/1.doGenerate");
  });

  test("a stream comes back part by part, and what came with it", async () => {
    const parts = [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "r1", timestamp: new Date(5), modelId: undefined },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "\u0000\ud800" },
      { type: "text-end", id: "0" },
      ...(version === "v4" ? [{ type: "ping" }, { type: "reasoning-file", url: new URL("https://c.example") }] : []),
      { type: "raw", rawValue: { choices: [{}], at: 1e21 } },
      { type: "finish", finishReason: "stop", usage: usage[version] },
    ];
    const { seen, cassette } = await both(async (deck, phase) => {
      const model = taped(deck, phase, {
        version,
        stream: () => ({ stream: streamOf(parts), request: { body: "{}" }, response: { headers: { a: undefined } } }),
      });
      const { stream, ...head } = await model.doStream(ask("hi"));
      return { head, parts: await partsOf(stream) };
    });
    expect(seen).toEqual({ head: { request: { body: "{}" }, response: { headers: { a: undefined } } }, parts });
    expect(track(cassette).events).toHaveLength(parts.length);
    expect(track(cassette).end).toBeUndefined();
  });
});

describe("identity", () => {
  const generate = (options: object): object => ({ content: [{ type: "text", text: JSON.stringify(options) }] });

  test("signal and headers do not count, what is undefined neither; prompt and options do", async () => {
    const store = memoryStore();
    const recorder = await createDeck({ store, mode: "record" });
    const recorded = taped(recorder, "record", { generate });
    await recorded.doGenerate({ ...ask("hi"), temperature: 0.5, headers: { authorization: "Bearer secret-a" } });
    await recorded.doGenerate({ ...ask("hi"), temperature: 0.7, tools: undefined });
    await recorder.finish();
    expect(await textIn(store)).not.toContain("secret-a");

    const deck = await createDeck({ store, mode: "replay" });
    const model = taped(deck, "replay", {});
    const { signal } = new AbortController();
    const asked = { ...ask("hi"), headers: { other: undefined }, abortSignal: signal };
    expect(await model.doGenerate({ ...asked, temperature: 0.7 })).toMatchObject({ content: [{}] });
    const miss = await model.doGenerate({ ...asked, temperature: 0.6 }).catch((error: unknown) => error);
    expect(miss).toBeInstanceOf(UnrecordedRequest);
    expect((miss as Error).message).toMatch(/hand\.made\/model\/1\.doGenerate\("hi"\) was never recorded/);
    expect((miss as Error).message).toMatch(/\/options\/temperature: recorded 0\.5, now 0\.6/);
    await model.doGenerate({ ...asked, temperature: 0.5, seed: undefined });
    await expect(model.doGenerate({ ...asked, temperature: 0.5 })).rejects.toBeInstanceOf(ScriptExhausted);
    await expect(deck.finish()).rejects.toMatchObject({ code: "unrecorded-request" });
  });

  test("a prompt that is changed afterwards was recorded as it was asked", async () => {
    const { cassette } = await both(async (deck, phase) => {
      const options = structuredClone(ask("first")) as { prompt: { content: { text: string }[] }[] };
      const done = taped(deck, phase, { generate: () => ({ content: [] }) }).doGenerate(options);
      options.prompt[0]!.content[0]!.text = "changed";
      await done;
      return 0;
    });
    expect(track(cassette).call.input).toEqual(ask("first"));
  });

  test("two models of a lane answer for themselves, in any order", async () => {
    const program = async (deck: Deck, phase: string): Promise<unknown> => {
      const of = (modelId: string) =>
        taped(deck, phase, { modelId, generate: () => ({ content: [{ type: "text", text: modelId }] }) });
      const [one, two, again] = [of("one"), of("two"), of("one")];
      const order = phase === "record" ? [one, two, again] : [two, again, one];
      const seen = await Promise.all(order.map((model) => model.doGenerate(ask("same"))));
      return seen.map((result) => JSON.stringify(result)).toSorted();
    };
    const { cassette } = await both(program);
    expect(Object.keys(cassette.vars ?? {})).toEqual(["model-1", "model-2", "model-3"]);
  });

  test("models put on tape by name are told apart by it; the same again is not written again", async () => {
    const { cassette } = await both(async (deck, phase) => {
      const make = (modelId: string, name?: string) =>
        taped(deck, phase, { modelId, generate: () => ({ content: [{ type: "text", text: modelId }] }) }, name);
      const first = [make("plain"), make("plain")];
      const named =
        phase === "record"
          ? [make("big", "planner"), make("small", "worker")]
          : [make("small", "worker"), make("big", "planner")].toReversed();
      const lane = tapeModel(deck.lane("side"), () =>
        handMade({ modelId: "aside", generate: () => ({ content: [] }) }),
      );
      const seen = [];
      for (const model of [...first, ...named, lane]) seen.push(model.modelId, await model.doGenerate(ask("x")));
      return seen;
    });
    expect(Object.keys(cassette.vars ?? {}).toSorted()).toEqual([
      "model-1",
      "model-1.side",
      "model.planner",
      "model.worker",
    ]);
  });
});

describe("what a model says of itself", () => {
  const urls = { "image/*": [/^https?:\/\/.*\.png$/i, /x/], "application/pdf": [/^https:/] };

  test.each([
    ["at once", urls],
    ["later", Promise.resolve(urls)],
  ])("supported URLs, told %s, are expressions again", async (_, supportedUrls) => {
    const { seen } = await both(async (deck, phase) => {
      const model = taped(deck, phase, { supportedUrls });
      return [model.supportedUrls instanceof Promise, await model.supportedUrls];
    });
    expect(seen).toEqual([supportedUrls instanceof Promise, urls]);
  });

  test("a cassette that does not say it is VarMissing with what to add, which then works", async () => {
    const cassette = (vars: object) => ({
      wiretape: 1 as const,
      vars: vars as Record<string, never>,
      tracks: [
        {
          id: "a",
          kind: "model" as const,
          call: { name: "acme/tiny.doGenerate", input: { prompt: [] } },
          result: { value: { content: [] } },
        },
      ],
    });
    const deck = await createDeck({ mode: "replay", cassette: cassette({}) });
    expect(() => taped(deck, "replay", {})).toThrow(/add under "vars": "model-1": /);
    await expect(deck.finish()).rejects.toMatchObject({ code: "var-missing" });
    const facts = { "model-1": { specificationVersion: "v2", provider: "acme", modelId: "tiny" } };
    const right = await createDeck({ mode: "replay", cassette: cassette(facts) });
    const model = taped(right, "replay", {});
    expect(model).toMatchObject({ specificationVersion: "v2", provider: "acme", modelId: "tiny", supportedUrls: {} });
    expect(await model.doGenerate({ prompt: [] })).toEqual({ content: [] });
    await right.finish();
    const wrong = await createDeck({ mode: "replay", cassette: cassette({ "model-1": { provider: 1 } }) });
    expect(() => taped(wrong, "replay", {})).toThrow(/"model-1" does not say which model it is/);
    await wrong.finish("failed").catch(() => undefined);
  });

  test("an extended recording is of the same model, or it is refused", async () => {
    const store = memoryStore();
    const generate = (): object => ({ content: [] });
    const first = await createDeck({ store, mode: "record" });
    await taped(first, "record", { generate }).doGenerate(ask("one"));
    await first.finish();
    const second = await createDeck({ store, mode: "extend" });
    const model = taped(second, "extend", { generate });
    await model.doGenerate(ask("one"));
    await model.doGenerate(ask("two"));
    expect(await second.finish()).toMatchObject({ played: 1 });
    const third = await createDeck({ store, mode: "extend" });
    const other = taped(third, "extend", { generate, modelId: "other" });
    await other.doGenerate(ask("two"));
    await expect(other.doGenerate(ask("three"))).rejects.toThrow(
      /is of hand\.made\/model\/1 .* now makes hand\.made\/other/,
    );
    await expect(third.finish()).rejects.toBeInstanceOf(OptionInvalid);
  });
});

test("a live deck hands the model on as it is", async () => {
  const model = handMade({});
  const deck = await createDeck({ mode: "live" });
  expect(tapeModel(deck, () => model)).toBe(model);
});

describe("what cannot be kept", () => {
  test.each<[string, HandMade, (model: ReturnType<typeof taped>) => Promise<unknown>, RegExp]>([
    ["an option", {}, (model) => model.doGenerate({ ...ask("x"), call: () => 1 }), /\$\.call/],
    ["a result", { generate: () => ({ content: [], f: () => 1 }) }, (model) => model.doGenerate(ask("x")), /\$\.f/],
    ["no answer", { generate: () => undefined }, (model) => model.doGenerate(ask("x")), /gave no answer/],
    ["no stream", { stream: () => ({}) }, (model) => model.doStream(ask("x")), /gave no stream/],
    [
      "a part",
      { stream: () => ({ stream: streamOf([{ type: "a" }, { type: "b", f: Symbol("s") }]) }) },
      async (model) => {
        const parts = await partsOf((await model.doStream(ask("x"))).stream);
        expect(parts).toEqual([{ type: "a" }, { broke: expect.any(OptionInvalid) }]);
        throw (parts[1] as { broke: unknown }).broke;
      },
      /\$\.f/,
    ],
  ])(
    "%s: OptionInvalid names the place, and fails finish(), so that nothing is written",
    async (_, made, run, place) => {
      const store = memoryStore();
      const deck = await createDeck({ store, mode: "record" });
      const failure = await run(taped(deck, "record", made)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(OptionInvalid);
      await expect(deck.finish()).rejects.toThrow(place);
      expect(await store.read("deck.cassette.json")).toBeUndefined();
    },
  );

  test.each([
    [{ specificationVersion: "v1" }, /got specificationVersion v1/],
    ["openai/gpt-5", /got the text "openai\/gpt-5"/],
    [undefined, /takes a language model/],
  ])("%j is no model", async (model, message) => {
    const deck = await createDeck({ mode: "record" });
    expect(() => tapeModel(deck, () => model as never)).toThrow(message);
  });

  test("wrong arguments", async () => {
    const deck = await createDeck({ mode: "record" });
    expect(() => tapeModel(deck, handMade({}) as never)).toThrow(/a function that makes the model/);
    expect(() => tapeModel(deck, () => handMade({}), { nam: "x" } as never)).toThrow(/no option nam/);
    expect(() => tapeModel(deck, () => handMade({}), { name: "1" })).toThrow(/no name of a model/);
  });
});

test("secrets reach no cassette: keys in what was sent, cookies and keys in what came, in answers, streams and errors", async () => {
  const key = "sk-proj-0123456789abcdefghijklmnop";
  const { text, seen } = await both(async (deck, phase) => {
    const failure = Object.assign(new Error(`Incorrect API key provided: ${key}`), {
      name: "AI_APICallError",
      statusCode: 401,
      responseHeaders: { "set-cookie": "session=s3cr3t-value-12345; path=/" },
      requestBodyValues: { authorization: `Bearer ${key}` },
    });
    const model = taped(deck, phase, {
      generate: (_, call) => {
        if (call === 2) throw failure;
        return {
          content: [{ type: "text", text: `Your key is ${key}` }],
          request: { body: { api_key: "plain-secret-98765" } },
          response: {
            headers: { "set-cookie": "session=s3cr3t-value-12345; path=/", "x-api-key": "plain-secret-98765" },
          },
        };
      },
      stream: () => ({
        stream: streamOf([{ type: "raw", rawValue: { apiKey: "plain-secret-98765" } }]),
        response: { headers: { authorization: "Basic cGxhaW46c2VjcmV0" } },
      }),
    });
    await model.doGenerate({ ...ask(`I am ${key}`), providerOptions: { hand: { apiKey: "plain-secret-98765" } } });
    await model.doGenerate(ask("fail")).catch(() => undefined);
    const { stream } = await model.doStream(ask("stream"));
    return (await partsOf(stream)).length;
  });
  expect(seen).toBe(1);
  expect(text).not.toMatch(/sk-proj-0123|s3cr3t-value|plain-secret|cGxhaW46c2VjcmV0/);
  expect(text).toMatch(/REDACTED-api-key-1/);
});

test("a secret that a model says in pieces reaches no cassette either; what stands around it stays where it was", async () => {
  const key = "sk-proj-0123456789abcdefghijklmnop";
  const said = ["Your ", "key is s", ...(key.slice(1).match(/.{1,5}/g) as string[]), " I", " think."];
  const delta = (text: string, id = "0"): object => ({ type: "text-delta", id, delta: text });
  const parts = said.flatMap((text, i) => [delta(text), delta(`${i}`, "other")]);
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record" });
  const recorded = await taped(recorder, "record", { stream: () => ({ stream: streamOf(parts) }) }).doStream(ask("x"));
  expect(await partsOf(recorded.stream)).toEqual(parts);
  await recorder.finish();
  const deck = await createDeck({ store, mode: "replay" });
  const replayed = await partsOf((await taped(deck, "replay", {}).doStream(ask("x"))).stream);
  await deck.finish();
  const texts = (replayed as { id: string; delta: string }[]).filter(({ id }) => id === "0").map((part) => part.delta);
  expect(texts).toHaveLength(said.length);
  expect(texts.join("")).toMatch(/^Your key is REDACTED-[\w-]+-1 I think\.$/);
  expect([texts[0], texts.at(-2), texts.at(-1)]).toEqual(["Your ", " I", " think."]);
  expect(replayed.filter((_, i) => i % 2 === 1)).toEqual(parts.filter((_, i) => i % 2 === 1));
});
