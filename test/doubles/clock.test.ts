import { expect, test } from "vitest";
import { tapeFunction } from "../../src/boundary/function/function.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { FakeClock } from "../../src/doubles/fake-clock.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { OptionInvalid } from "../../src/errors.ts";

test("starts where it is told, moves by what is slept, and waits for nothing", async () => {
  expect(new FakeClock().now()).toBe(0);
  const clock = new FakeClock(1_700_000_000);
  const began = performance.now();
  await clock.sleep(3600);
  await clock.sleep(0.5);
  expect(performance.now() - began).toBeLessThan(1000);
  expect([clock.now(), clock.sleeps]).toEqual([1_700_003_600.5, [3600, 0.5]]);
});

test("advance moves the time and records no sleep", () => {
  const clock = new FakeClock(10);
  clock.advance(5);
  expect([clock.now(), clock.sleeps]).toEqual([15, []]);
});

test("what is no number of seconds is refused", async () => {
  expect(() => new FakeClock("now" as never)).toThrow(OptionInvalid);
  expect(() => new FakeClock().advance(-1)).toThrow(/from 0; got -1/);
  await expect(new FakeClock().sleep(Number.NaN)).rejects.toThrow(/FakeClock.sleep/);
});

test("a deck that replays at the recorded pace takes its time from it, in order, without a wait", async () => {
  const cassette = {
    wiretape: 1,
    tracks: [
      { id: "slow", kind: "function", at: 0, call: { name: "slow", input: [] }, result: { at: 60_000, value: "slow" } },
      { id: "fast", kind: "function", at: 0, call: { name: "fast", input: [] }, result: { at: 5_000, value: "fast" } },
    ],
  } as const satisfies Cassette;
  const clock = new FakeClock(100);
  const deck = await createDeck({ cassette, timing: "recorded", clock });
  const call = (name: string) => tapeFunction(deck, name, async () => "live")();
  const order: [unknown, number][] = [];
  const began = performance.now();
  await Promise.all(["slow", "fast"].map(async (name) => order.push([await call(name), clock.now()])));
  expect(performance.now() - began).toBeLessThan(2000);
  expect(order).toEqual([
    ["fast", 105],
    ["slow", 160],
  ]);
  expect(clock.sleeps).toEqual([]);
  await deck.finish();
});

test("advance wakes what is due, in its order, and no more", async () => {
  const clock = new FakeClock();
  const order: string[] = [];
  const sleep = (name: string, ms: number) =>
    clock.deckClock.sleep(ms).then(() => order.push(`${name} ${clock.now()}`));
  const all = Promise.all([sleep("c", 9_000), sleep("b", 2_000), sleep("a", 1_000)]);
  clock.advance(5);
  await Promise.resolve();
  await Promise.resolve();
  expect(order).toEqual(["a 5", "b 5"]);
  await all;
  expect([order.at(-1), clock.sleeps]).toEqual(["c 9", []]);
});

test("a sleep of the program moves the deck's time too", async () => {
  const clock = new FakeClock();
  const waiting = clock.deckClock.sleep(1_500);
  await clock.sleep(2);
  await waiting;
  expect([clock.now(), clock.deckClock.now()]).toEqual([2, 2_000]);
  await expect(clock.sleep(1, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  expect(clock.sleeps).toEqual([2]);
});

test("what a deck waits for can be given up", async () => {
  const { deckClock } = new FakeClock();
  await expect(deckClock.sleep(10, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  const stop = new AbortController();
  const waiting = deckClock.sleep(10, stop.signal);
  stop.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});
