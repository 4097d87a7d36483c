import { afterEach, describe, expect, test, vi } from "vitest";
import { type Cassette, type Clock, createDeck, type Deck, tapeFetch } from "wiretape";
import "../support/settled.ts";

const url = "https://api.example.com/stream";
const track = (id: string, at: number): Cassette["tracks"][number] => ({
  id,
  kind: "http",
  at,
  request: { method: "GET", url: `${url}/${id}` },
  response: {
    at: 100,
    status: 200,
    body: [
      { at: 200, text: "a" },
      { at: 500, text: "b" },
    ],
    end: { at: 900, error: { name: "TypeError", message: "terminated" } },
  },
});
const cassette: Cassette = { wiretape: 1, tracks: [track("t1", 0), track("t2", 50)] };

/** A clock that stands until it is moved; sleepers wake in order. */
function fakeClock(): Clock & { advance(ms: number): Promise<void>; readonly sleepers: number } {
  let now = 0;
  const sleeping: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const entry = { at: now + ms, wake: resolve };
        sleeping.push(entry);
        signal?.addEventListener("abort", () => {
          sleeping.splice(sleeping.indexOf(entry), 1);
          reject(signal.reason);
        });
      }),
    get sleepers() {
      return sleeping.length;
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = sleeping.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        sleeping.splice(sleeping.indexOf(next), 1);
        now = next.at;
        next.wake();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets everything happen that can happen without time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Reads a stream and says when each thing came. */
async function watch(deck: Deck, clock: Clock, id: string, log: string[]): Promise<void> {
  const response = await tapeFetch(deck)(`${url}/${id}`);
  log.push(`${id} head ${clock.now()}`);
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      log.push(`${id} ${Buffer.from(chunk)} ${clock.now()}`);
  } catch (error) {
    log.push(`${id} ${(error as Error).message} ${clock.now()}`);
  }
}

describe("timing goes by the clock that is given", () => {
  test.each([
    ["recorded" as const, 1],
    [10, 10],
    [0.5, 0.5],
  ])("%s", async (timing, speed) => {
    const clock = fakeClock();
    const deck = await createDeck({ cassette, mode: "replay", timing, clock, unplayed: "ignore" });
    const log: string[] = [];
    const watching = watch(deck, clock, "t1", log);
    await clock.advance(99 / speed);
    expect(log).toEqual([]);
    await clock.advance(1 / speed);
    expect(log).toEqual([`t1 head ${100 / speed}`]);
    await clock.advance(10_000);
    expect(log).toEqual([
      `t1 head ${100 / speed}`,
      `t1 a ${200 / speed}`,
      `t1 b ${500 / speed}`,
      `t1 terminated ${900 / speed}`,
    ]);
    await watching;
    await deck.finish();
  });

  test("two streams keep each its own pace, from when it was asked for", async () => {
    const clock = fakeClock();
    const deck = await createDeck({ cassette, mode: "replay", timing: "recorded", clock });
    const log: string[] = [];
    const first = watch(deck, clock, "t1", log);
    await clock.advance(150);
    const second = watch(deck, clock, "t2", log);
    await clock.advance(2000);
    await Promise.all([first, second]);
    expect(log).toEqual([
      "t1 head 100",
      "t1 a 200",
      "t2 head 250",
      "t2 a 350",
      "t1 b 500",
      "t2 b 650",
      "t1 terminated 900",
      "t2 terminated 1050",
    ]);
    await deck.finish();
  });

  test("a wait that is given up leaves nothing asleep", async () => {
    const clock = fakeClock();
    const deck = await createDeck({ cassette, mode: "replay", timing: "recorded", clock, unplayed: "ignore" });
    const controller = new AbortController();
    const call = tapeFetch(deck)(`${url}/t1`, { signal: controller.signal });
    await settle();
    expect(clock.sleepers).toBe(1);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(clock.sleepers).toBe(0);
    await deck.finish();
  });

  test("finish ends a wait", async () => {
    const clock = fakeClock();
    const deck = await createDeck({ cassette, mode: "replay", timing: "recorded", clock, unplayed: "ignore" });
    const call = tapeFetch(deck)(`${url}/t1`).catch((error: unknown) => error);
    await settle();
    await deck.finish();
    expect(await Promise.race([call, settle()])).toMatchObject({ code: "deck-finished" });
    expect(clock.sleepers).toBe(0);
  });
});

describe("fake timers cannot hang an instant replay", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    [
      "all that vitest can fake",
      [...(["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "performance", "Date"] as const)],
    ],
    ["the default", undefined],
  ])("%s", async (_, toFake) => {
    vi.useFakeTimers(toFake === undefined ? {} : { toFake });
    const began = Date.now();
    const deck = await createDeck({ cassette, mode: "replay" });
    const log: string[] = [];
    await Promise.all([
      watch(deck, { now: Date.now, sleep: async () => undefined }, "t1", log),
      watch(deck, { now: Date.now, sleep: async () => undefined }, "t2", log),
    ]);
    expect(log.map((line) => line.replace(/ \d+$/, ""))).toEqual([
      "t1 head",
      "t2 head",
      "t1 a",
      "t2 a",
      "t1 b",
      "t2 b",
      "t1 terminated",
      "t2 terminated",
    ]);
    expect(Date.now()).toBe(began); // no time has passed for the program
    await deck.finish();
  });

  test("and a stall is still found, in real time", async () => {
    vi.useFakeTimers();
    const held = structuredClone(cassette) as unknown as { tracks: { response: { body: { after?: string }[] } }[] };
    (held.tracks[0]!.response.body[1] as { after?: string }).after = "t2";
    const deck = await createDeck({ cassette: held as never, mode: "replay", stallAfterMs: 30 });
    const response = await tapeFetch(deck)(`${url}/t1`);
    await expect(response.text()).rejects.toMatchObject({ code: "replay-stalled" });
    await expect(deck.finish()).rejects.toMatchObject({ code: "replay-stalled" });
  });
});
