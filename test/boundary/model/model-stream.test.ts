import { describe, expect, test } from "vitest";
import { createDeck, type Deck, type ModelTrack, memoryStore, parseCassette, ScriptExhausted } from "wiretape";
import { tapeModel } from "wiretape/model";
import { seenError } from "../../support/observe.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import { ask, both, handMade, partsOf, streamOf } from "./hand-made-model.ts";

const delta = (text: string | number): object => ({ type: "text-delta", id: "0", delta: String(text) });
const many = Array.from({ length: 50 }, (_, i) => delta(i));
const trackOf = (text: string, i = 0): ModelTrack => parseCassette(text).tracks[i] as ModelTrack;

/** A model that streams these parts, for the phase of a recording alone. */
function streaming(deck: Deck, phase: string, make: (signal: AbortSignal | undefined) => ReadableStream<unknown>) {
  return tapeModel(deck, () => {
    if (phase === "replay") throw new Error("replay made the model");
    return handMade({ stream: ({ abortSignal }) => ({ stream: make(abortSignal) }) });
  });
}

test("nothing is read ahead of the program: a part is asked for when it is asked for", async () => {
  const deck = await createDeck({ mode: "record" });
  let made = 0;
  function* parts(): Generator<object> {
    for (const part of many) {
      made++;
      yield part;
    }
  }
  const { stream } = await streaming(deck, "record", () => streamOf(parts())).doStream(ask("x"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(made).toBe(0);
  const reader = stream.getReader();
  for (let i = 1; i <= 3; i++) {
    await reader.read();
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBe(i);
  }
  await reader.cancel();
  await deck.finish();
});

test("a part is handed on when it comes, not when the stream is over", async () => {
  const deck = await createDeck({ mode: "record" });
  let give!: (part: object) => void;
  const live = new ReadableStream<unknown>({
    start: (controller) => {
      give = (part) => controller.enqueue(part);
    },
  });
  const { stream } = await streaming(deck, "record", () => live).doStream(ask("x"));
  const reader = stream.getReader();
  for (const i of [1, 2, 3]) {
    const read = reader.read();
    give(delta(i));
    expect((await read).value).toEqual(delta(i));
  }
  await deck.finish();
  expect(deck.cassette?.tracks[0]).toMatchObject({ events: [{}, {}, {}], end: { by: "client" } });
});

test("a stream that breaks breaks again, after the same parts; an error part is a part", async () => {
  const broken = Object.assign(new TypeError("terminated"), {
    cause: Object.assign(new Error("closed"), { code: "E" }),
  });
  const { seen, text } = await both(async (deck, phase) => {
    function* parts(): Generator<object> {
      yield delta(1);
      yield { type: "error", error: Object.assign(new Error("overloaded"), { status: 529 }) };
      yield { type: "error", error: { code: "text", at: new Date(0) } };
      throw broken;
    }
    const { stream } = await streaming(deck, phase, () => streamOf(parts())).doStream(ask("x"));
    const seen = await partsOf(stream);
    expect((seen[1] as { error: { status: number } }).error.status).toBe(529);
    return seen.map((part) => ("broke" in (part as object) ? seenError((part as { broke: unknown }).broke) : part));
  });
  expect(seen).toHaveLength(4);
  expect(seen[3]).toMatchObject({ name: "TypeError", message: "terminated", cause: { code: "E" } });
  expect(trackOf(text).end).toMatchObject({ error: { name: "TypeError", cause: { code: "E" } } });
});

describe("a program that gives up", () => {
  test("before the answer: by its signal, in both modes, with its reason", async () => {
    const { text } = await both(async (deck, phase) => {
      const model = tapeModel(deck, () => {
        if (phase === "replay") throw new Error("made");
        const never = ({ abortSignal }: { abortSignal?: AbortSignal }): Promise<never> =>
          new Promise((_, reject) => abortSignal?.addEventListener("abort", () => reject(abortSignal.reason)));
        return handMade({ generate: never, stream: never });
      });
      const seen: unknown[] = [];
      for (const method of ["doGenerate", "doStream"] as const) {
        const stop = new AbortController();
        const waiting = model[method]({ ...ask("x"), abortSignal: stop.signal });
        setTimeout(() => stop.abort(), 5);
        seen.push(seenError(await waiting.then(undefined, (error: unknown) => error)));
      }
      return seen;
    });
    expect(trackOf(text, 0)).toMatchObject({ end: { by: "client" } });
    expect(trackOf(text, 1)).toMatchObject({ end: { by: "client" } });
    expect(trackOf(text, 1).result).toBeUndefined();
  });

  test("with a signal that has aborted already", async () => {
    await both(async (deck, phase) => {
      const model = tapeModel(deck, () => {
        if (phase === "replay") throw new Error("made");
        return handMade({
          generate: ({ abortSignal }) => {
            abortSignal?.throwIfAborted();
            return { content: [] };
          },
        });
      });
      const failed = await model
        .doGenerate({ ...ask("x"), abortSignal: AbortSignal.abort() })
        .then(undefined, seenError);
      expect(failed).toMatchObject({ name: "AbortError" });
      return failed;
    });
  });

  test("in the middle of a stream: the parts before it, then the reason of the signal", async () => {
    const { seen, text } = await both(async (deck, phase) => {
      const stop = new AbortController();
      const model = streaming(deck, phase, (signal) => {
        async function* parts(): AsyncGenerator<object> {
          for (const part of many.slice(0, 4)) yield part;
          await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
        }
        return streamOf(parts());
      });
      const { stream } = await model.doStream({ ...ask("x"), abortSignal: stop.signal });
      setTimeout(() => stop.abort(new Error("enough")), 20);
      return partsOf(stream);
    });
    expect(seen).toEqual([...many.slice(0, 4), { broke: new Error("enough") }]);
    expect(trackOf(text)).toMatchObject({ end: { by: "client" } });
  });

  test("earlier in a replay than it was recorded: each part is a delivery of its own, so a timer can fire between two", async () => {
    const store = memoryStore();
    const recorder = await createDeck({ store, mode: "record" });
    const lots = Array.from({ length: 20_000 }, (_, i) => delta(i));
    const { stream } = await streaming(recorder, "record", () => streamOf(lots)).doStream(ask("x"));
    expect(await partsOf(stream)).toHaveLength(lots.length);
    await recorder.finish();
    const deck = await createDeck({ store, mode: "replay" });
    const stop = new AbortController();
    const replayed = await streaming(deck, "replay", never).doStream({ ...ask("x"), abortSignal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 3);
    const parts = await partsOf(replayed.stream);
    expect(parts.at(-1)).toEqual({ broke: new Error("enough") });
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.length).toBeLessThan(lots.length);
    await deck.finish(); // what was not read counts as played
  });

  test("by leaving: the model is told, and the stream stays open in a replay until the program leaves again", async () => {
    const reasons: unknown[] = [];
    const { text } = await both(async (deck, phase) => {
      const model = streaming(deck, phase, () => streamOf(many, (reason) => void reasons.push(reason)));
      const reader = (await model.doStream(ask("x"))).stream.getReader();
      const seen = [await reader.read(), await reader.read()];
      if (phase === "replay") {
        let more = false;
        void reader.read().then(() => {
          more = true;
        });
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(more).toBe(false);
      }
      await reader.cancel("seen enough");
      return seen;
    });
    expect(reasons).toEqual(["seen enough"]);
    expect(trackOf(text)).toMatchObject({ events: [{}, {}], end: { by: "client" } });
  });
});

const never = (): never => expect.fail("asked");

test("streams that are read at once keep the order in which their parts came, and wait for the calls that were made between", async () => {
  const { text, seen } = await both(async (deck, phase) => {
    const gates = new Map<string, () => void>();
    const model = tapeModel(deck, () => {
      if (phase === "replay") throw new Error("made");
      return handMade({
        stream: ({ prompt }) => {
          const name = JSON.stringify(prompt).includes("first") ? "first" : "second";
          async function* parts(): AsyncGenerator<object> {
            yield delta(`${name} 1`);
            // What the first says next comes only after the second was asked.
            if (name === "first") await new Promise<void>((resolve) => gates.set("second", resolve));
            else gates.get("second")?.();
            yield delta(`${name} 2`);
          }
          return { stream: streamOf(parts()) };
        },
      });
    });
    const order: string[] = [];
    const read = async (name: string): Promise<void> => {
      const { stream } = await model.doStream(ask(name));
      for await (const part of stream) order.push((part as { delta: string }).delta);
    };
    const first = read("first");
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    // Time for a replay that does not wait to say too much.
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push("ask");
    await Promise.all([first, read("second")]);
    return order;
  });
  expect(seen.slice(0, 2)).toEqual(["first 1", "ask"]);
  expect(trackOf(text).events?.[1]).toMatchObject({ after: "t2" });
});

test("an empty catch does not hide a stream too many", async () => {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record" });
  await partsOf((await streaming(recorder, "record", () => streamOf(many)).doStream(ask("x"))).stream);
  await recorder.finish();
  const deck = await createDeck({ store, mode: "replay" });
  const model = streaming(deck, "replay", never);
  expect(await partsOf((await model.doStream(ask("x"))).stream)).toEqual(many);
  await model.doStream(ask("x")).catch(() => undefined);
  await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
});

test("what a program does to a part changes no other play", async () => {
  const { text } = await both(async (deck, phase) => {
    const model = streaming(deck, phase, () => streamOf([{ type: "raw", rawValue: { list: [1] } }]));
    const [part] = (await partsOf((await model.doStream(ask("x"))).stream)) as [{ rawValue: { list: number[] } }];
    const before = structuredClone(part);
    part.rawValue.list.push(2);
    return before;
  });
  expect(text).toContain('{ "list": [1] }');
});

test("a cassette written by hand: gates hold an answer and a part", async () => {
  const vars = { "model-1": { specificationVersion: "v3", provider: "acme", modelId: "tiny" } };
  const call = (method: string, text: string) => ({ name: `acme/tiny.${method}`, input: ask(text) as never });
  const deck = await createDeck({
    mode: "replay",
    cassette: {
      wiretape: 1,
      vars,
      tracks: [
        {
          id: "a",
          kind: "model",
          call: call("doStream", "a"),
          events: [{ json: delta(1) as never }, { value: delta(2) as never, after: "b" }],
        },
        { id: "b", kind: "model", call: call("doGenerate", "b"), result: { value: { content: [] } } },
        {
          id: "c",
          kind: "model",
          call: call("doGenerate", "c"),
          end: { error: { name: "AI_APICallError", message: "m", code: 500 } },
        },
        { id: "d", kind: "model", call: call("doGenerate", "d"), result: {} },
        { id: "e", kind: "model", call: call("doStream", "e"), events: [{ text: "x" }] },
      ],
    },
  });
  const model = streaming(deck, "replay", never);
  const reader = (await model.doStream(ask("a"))).stream.getReader();
  expect((await reader.read()).value).toEqual(delta(1));
  let second: unknown;
  const reading = reader.read().then(({ value }) => {
    second = value;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(second).toBeUndefined();
  await model.doGenerate(ask("b"));
  await reading;
  expect(second).toEqual(delta(2));
  await expect(model.doGenerate(ask("c"))).rejects.toMatchObject({ statusCode: 500, isRetryable: true });
  await expect(model.doGenerate(ask("d"))).rejects.toThrow(/Track d .* no list under "content"/);
  expect(await partsOf((await model.doStream(ask("e"))).stream)).toMatchObject([
    { broke: { code: "cassette-invalid" } },
  ]);
  await expect(deck.finish()).rejects.toMatchObject({ code: "cassette-invalid" });
});

test("the recording of a stream is what the store has", async () => {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record" });
  const { stream } = await streaming(deck, "record", () => streamOf(many)).doStream(ask("x"));
  await partsOf(stream);
  await deck.finish();
  expect(await textIn(store)).toContain('"value": { "type": "text-delta", "id": "0", "delta": "49" }');
});
