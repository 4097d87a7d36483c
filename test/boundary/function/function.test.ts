import { describe, expect, test } from "vitest";
import {
  type Cassette,
  createDeck,
  type Deck,
  type FunctionTrack,
  memoryStore,
  OptionInvalid,
  parseCassette,
  ScriptExhausted,
  tapeFunction,
  tapeObject,
  UnrecordedRequest,
} from "wiretape";
import { seenError } from "../../support/observe.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";

/** Runs a program over a deck that records and one that replays; both must see the same. */
async function twice<T>(
  program: (deck: Deck, phase: "record" | "replay") => Promise<T>,
): Promise<{ seen: T; cassette: Cassette }> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record" });
  const seen = await program(recorder, "record");
  await recorder.finish();
  const player = await createDeck({ store, mode: "replay" });
  expect(await program(player, "replay")).toEqual(seen);
  await player.finish();
  return { seen, cassette: parseCassette(await textIn(store)) };
}

/** A function that must not be called in a replay. */
const live =
  <A extends unknown[], R>(phase: "record" | "replay", fn: (...args: A) => R) =>
  (...args: A): R => {
    if (phase === "replay") throw new Error("replay called the function");
    return fn(...args);
  };

const tracksOf = (cassette: Cassette): FunctionTrack[] => cassette.tracks as FunctionTrack[];

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("values that JSON lacks come back as they were, as arguments and as results", async () => {
  const values = [
    undefined,
    null,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    -0,
    1e-7,
    12345678901234567890n,
    new Date(0),
    new Date(Number.NaN),
    new URL("https://a.example/?q=1"),
    Uint8Array.of(0, 255),
    new Map<unknown, unknown>([[{ k: 1 }, new Set([1n])]]),
    new Set([undefined]),
    { $date: "no date", nested: [undefined, { $literal: 1 }] },
    JSON.parse('{"__proto__": {"polluted": true}}'),
  ];
  const { cassette, seen } = await twice(async (deck, phase) => {
    const echo = tapeFunction(
      deck,
      "echo",
      live(phase, async (...args: unknown[]) => args),
    );
    return echo(...values);
  });
  expect(seen).toHaveLength(values.length);
  for (const [i, value] of values.entries())
    expect(Object.is((seen as unknown[])[i], value) || seen[i]).toEqual(
      Object.is((seen as unknown[])[i], value) || value,
    );
  expect(JSON.stringify(cassette)).toContain('"$bytes"');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("an argument that the function changes afterwards was recorded as it was passed", async () => {
  const { cassette } = await twice(async (deck, phase) => {
    const list = [1];
    const push = tapeFunction(
      deck,
      "push",
      live(phase, async (items: number[]) => items.push(2)),
    );
    return push(list);
  });
  expect(tracksOf(cassette)[0]?.call.input).toEqual([[1]]);
});

test("a result that the program changes afterwards was recorded, and is replayed, as it was given", async () => {
  const store = memoryStore();
  const program = async (deck: Deck): Promise<unknown[]> => {
    const give = tapeFunction(deck, "give", async () => ({ list: [1] }));
    const first = await give();
    first.list.push(99);
    return [structuredClone(first), (await give()).list];
  };
  const recorder = await createDeck({ store, mode: "record" });
  const seen = await program(recorder);
  await recorder.finish();
  for (let play = 0; play < 2; play++) {
    const deck = await createDeck({ store, mode: "replay" });
    expect(await program(deck)).toEqual(seen);
    await deck.finish();
  }
});

describe("what cannot be kept", () => {
  test("an argument: OptionInvalid names the place, and nothing is called", async () => {
    const deck = await createDeck({ mode: "record" });
    let called = false;
    const fn = tapeFunction(deck, "fn", async (_: unknown) => {
      called = true;
    });
    expect(() => fn({ deep: [() => 1] })).toThrow(OptionInvalid);
    expect(() => fn({ deep: [() => 1] })).toThrow(/deep/);
    expect(called).toBe(false);
    await deck.finish();
    expect(deck.cassette?.tracks).toEqual([]);
  });

  test.each([
    ["a result", async (deck: Deck) => tapeFunction(deck, "fn", async () => ({ deep: Symbol("x") }))()],
    [
      "an item",
      async (deck: Deck) =>
        collect(
          tapeFunction(deck, "fn", async function* () {
            yield 1;
            yield { deep: () => 1 };
          })(),
        ),
    ],
  ])(
    "%s: OptionInvalid, which also fails finish(), so that no recording is written that cannot be right",
    async (_, run) => {
      const store = memoryStore();
      const deck = await createDeck({ store, mode: "record" });
      await expect(run(deck)).rejects.toBeInstanceOf(OptionInvalid);
      await expect(deck.finish()).rejects.toThrow(/deep/);
      expect(await store.read("deck.cassette.json")).toBeUndefined();
    },
  );

  test("a function that answers at once is refused, and its deck with it", async () => {
    const store = memoryStore();
    const deck = await createDeck({ store, mode: "record" });
    const sync = tapeFunction(deck, "sync", (() => 1) as () => unknown);
    expect(() => sync()).toThrow(/sync returned a value at once; a function on tape is asynchronous/);
    await expect(deck.finish()).rejects.toBeInstanceOf(OptionInvalid);
    expect(await store.read("deck.cassette.json")).toBeUndefined();
  });
});

describe("failures", () => {
  test("what is thrown is thrown again, with its code and its causes", async () => {
    const { seen } = await twice(async (deck, phase) => {
      const fail = tapeFunction(
        deck,
        "fail",
        live(phase, async (kind: number): Promise<never> => {
          if (kind === 0)
            throw Object.assign(new RangeError("too far", { cause: new Error("below") }), { code: "E_FAR" });
          if (kind === 1) throw Object.assign(new Error("odd"), { code: 7 });
          throw new DOMException("gave up", "AbortError");
        }),
      );
      const errors = [];
      for (const kind of [0, 1, 2]) {
        errors.push(
          await fail(kind).then(
            () => "none",
            (error: unknown) => {
              const { name, message, code, cause } = seenError(error) as Record<string, unknown>;
              return { name, message, code, cause };
            },
          ),
        );
      }
      return errors;
    });
    expect(seen[0]).toMatchObject({
      name: "RangeError",
      message: "too far",
      code: "E_FAR",
      cause: { message: "below" },
    });
  });

  test("what is thrown and is no error comes back as one, with its text: a cassette keeps errors", async () => {
    const store = memoryStore();
    const thrown = async (mode: "record" | "replay"): Promise<unknown> => {
      const deck = await createDeck({ store, mode });
      const odd = tapeFunction(deck, "odd", async () => {
        throw "a text";
      });
      const error = await odd().catch((reason: unknown) => reason);
      await deck.finish();
      return error;
    };
    expect(await thrown("record")).toBe("a text");
    expect(await thrown("replay")).toMatchObject({ name: "Error", message: "a text" });
  });

  test("each call has its own outcome: a failure, then an answer", async () => {
    const { cassette } = await twice(async (deck, phase) => {
      let calls = 0;
      const flaky = tapeFunction(
        deck,
        "flaky",
        live(phase, async () => {
          if (calls++ === 0) throw new Error("busy");
          return "fine";
        }),
      );
      return [await flaky().catch((error: Error) => error.message), await flaky()];
    });
    expect(tracksOf(cassette).map(({ error, result }) => [error?.message, result?.value])).toEqual([
      ["busy", undefined],
      [undefined, "fine"],
    ]);
  });
});

describe("async iterables", () => {
  async function* count(to: number): AsyncGenerator<number, string> {
    for (let i = 1; i <= to; i++) yield i;
    return `counted ${to}`;
  }

  test("all items and the return value", async () => {
    const { seen, cassette } = await twice(async (deck, phase) => {
      const items = tapeFunction(deck, "count", live(phase, count))(3);
      const steps = [];
      for (;;) {
        const step = await items.next();
        steps.push(step);
        if (step.done) return steps;
      }
    });
    expect(seen.at(-1)).toEqual({ done: true, value: "counted 3" });
    expect(tracksOf(cassette)[0]?.events).toHaveLength(3);
  });

  test("none at all, and a promise of an iterable", async () => {
    const { cassette } = await twice(async (deck, phase) => {
      const none = tapeFunction(deck, "none", live(phase, count));
      const promised = tapeFunction(
        deck,
        "promised",
        live(phase, async (to: number) => count(to)),
      );
      return [await collect(none(0)), await collect(await promised(2))];
    });
    expect(tracksOf(cassette).map(({ events }) => events?.length ?? 0)).toEqual([0, 2]);
  });

  test("an early break tells the source, and what was not read counts as played", async () => {
    let returned = 0;
    const { cassette } = await twice(async (deck, phase) => {
      const items = tapeFunction(
        deck,
        "long",
        live(phase, async function* () {
          try {
            for (let i = 0; ; i++) yield i;
          } finally {
            returned++;
          }
        }),
      );
      const seen = [];
      for await (const item of items()) {
        seen.push(item);
        if (item === 2) break;
      }
      return seen;
    });
    expect(returned).toBe(1);
    expect(tracksOf(cassette)[0]).toMatchObject({ events: [{}, {}, {}], end: { by: "client" } });
  });

  test("an error in the middle", async () => {
    const { seen } = await twice(async (deck, phase) => {
      const items = tapeFunction(
        deck,
        "breaks",
        live(phase, async function* () {
          yield "one";
          throw Object.assign(new Error("torn"), { code: "E_TORN" });
        }),
      );
      const got: unknown[] = [];
      try {
        for await (const item of items()) got.push(item);
      } catch (error) {
        got.push((error as Error).message, (error as { code: string }).code);
      }
      return got;
    });
    expect(seen).toEqual(["one", "torn", "E_TORN"]);
  });

  test("two at once each get their own items", async () => {
    await twice(async (deck, phase) => {
      const items = tapeFunction(deck, "count", live(phase, count));
      return Promise.all([collect(items(3)), collect(items(5)), collect(items(3))]);
    });
  });

  test("one that is never read is a track all the same", async () => {
    const { cassette } = await twice(async (deck, phase) => {
      tapeFunction(deck, "unread", live(phase, count))(3);
      return "done";
    });
    expect(tracksOf(cassette)).toHaveLength(1);
  });
});

describe("signals", () => {
  test("do not count, as a last argument or inside it, and a wait that ended by one ends so again", async () => {
    const { cassette } = await twice(async (deck, phase) => {
      const wait = tapeFunction(
        deck,
        "wait",
        live(
          phase,
          (_name: string, { signal }: { signal: AbortSignal }) =>
            new Promise<never>((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
            ),
        ),
      );
      const plain = tapeFunction(
        deck,
        "plain",
        live(phase, async (n: number, _signal?: AbortSignal) => n),
      );
      const controller = new AbortController();
      const waiting = wait("a", { signal: controller.signal }).catch((error: Error) => error.message);
      setTimeout(() => controller.abort(new Error("enough")), 10);
      return [await waiting, await plain(1, new AbortController().signal)];
    });
    expect(JSON.stringify(cassette)).not.toMatch(/signal/i);
  });
});

describe("misses", () => {
  test("exhausted, never recorded, and the wrong lane", async () => {
    const store = memoryStore();
    const recorder = await createDeck({ store, mode: "record" });
    await tapeFunction(recorder, "add", async (a: number, b: number) => a + b)(1, 2);
    await tapeFunction(recorder.lane("side"), "add", async (a: number, b: number) => a + b)(5, 5);
    await recorder.finish();
    const deck = await createDeck({ store, mode: "replay", unplayed: "ignore" });
    const add = tapeFunction(deck, "add", async (_a: number, _b: number): Promise<number> => expect.fail("called"));
    expect(() => add(5, 5)).toThrow(UnrecordedRequest);
    expect(() => add(1, 3)).toThrow(/add\(1,3\) was never recorded[\s\S]*\/arguments\/1: recorded 2, now 3/);
    expect(await add(1, 2)).toBe(3);
    expect(() => add(1, 2)).toThrow(ScriptExhausted);
    expect(await tapeFunction(deck.lane("side"), "add", async (_a: number, _b: number) => 0)(5, 5)).toBe(10);
    await expect(deck.finish()).rejects.toMatchObject({ code: "unrecorded-request" });
  });
});

describe("tapeObject", () => {
  class Store {
    #items = new Map<string, number>();
    readonly name = "store";
    async get(key: string): Promise<number | undefined> {
      return this.#items.get(key);
    }
    async set(key: string, value: number): Promise<this> {
      this.#items.set(key, value);
      return this;
    }
    async *keys(): AsyncGenerator<string> {
      yield* this.#items.keys();
    }
  }
  class Derived extends Store {
    async size(): Promise<number> {
      let size = 0;
      for await (const _ of this.keys()) size++;
      return size;
    }
  }

  test("methods of prototypes, with private state; properties pass; a method is the same each time", async () => {
    const { cassette, seen } = await twice(async (deck, phase) => {
      const real = new Derived();
      await real.set("a", 1);
      const port = tapeObject(deck, "store", phase === "record" ? real : new Derived());
      expect(port).toBeInstanceOf(Store);
      expect(port.get).toBe(port.get);
      return [port.name, await port.get("a"), await port.get("b"), await port.size(), await collect(port.keys())];
    });
    expect(seen).toEqual(["store", 1, undefined, 1, ["a"]]);
    expect(tracksOf(cassette).map(({ call }) => call.name)).toEqual([
      "store.get",
      "store.get",
      "store.size",
      "store.keys",
    ]);
  });
});
