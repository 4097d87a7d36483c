import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Deliveries, type Delivery } from "../../src/engine/deliveries.ts";
import { platform } from "../../src/engine/platform.ts";
import { Trace } from "../../src/engine/trace.ts";

function start(stallAfterMs = 0) {
  const trace = new Trace();
  const stalls: unknown[] = [];
  const deliveries = new Deliveries(platform, trace, platform.clock, stallAfterMs, (held) => {
    stalls.push(held.map(({ delivery, waitsFor }) => `${delivery.track} ${waitsFor}`));
    return new Error("stalled");
  });
  const made = (track: string): void => trace.push({ kind: "request", boundary: "http", track });
  return { trace, deliveries, stalls, made };
}

const delivery = (track: string, recordedAt: number, more: Partial<Delivery> = {}): Delivery => ({
  track,
  what: "a chunk",
  recordedAt,
  order: 0,
  after: undefined,
  ...more,
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("of what is asked for, the earliest recorded is handed out first, one a turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20), { minLength: 1, maxLength: 40 }), async (times) => {
      const { deliveries } = start();
      const seen: { at: number; order: number }[] = [];
      const turns: number[] = [];
      let turnNumber = 0;
      const count = (): void => {
        turnNumber++;
        if (seen.length < times.length) setImmediate(count);
      };
      setImmediate(count);
      const waits = times.map((at, order) =>
        deliveries.wait(delivery("t1", at, { order }))!.promise.then(() => {
          turns.push(turnNumber);
          seen.push({ at, order });
        }),
      );
      await Promise.all(waits);
      expect(seen).toEqual([...seen].sort((a, b) => a.at - b.at || a.order - b.order));
      expect(new Set(turns).size).toBe(times.length);
    }),
    { numRuns: 50 },
  );
});

test("a cancelled delivery leaves the queue, whatever its place", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 40 }), async (plan) => {
      const { deliveries } = start();
      const seen: number[] = [];
      const waits = plan.map(([at], order) => deliveries.wait(delivery("t1", at, { order }))!);
      waits.forEach((wait, i) => void wait.promise.then(() => seen.push(i)));
      for (const [i, [, cancelled]] of plan.entries()) if (cancelled) waits[i]!.cancel();
      await Promise.all(waits.filter((_, i) => !plan[i]![1]).map(({ promise }) => promise));
      await turn();
      expect(seen.toSorted((a, b) => a - b)).toEqual(plan.flatMap(([, cancelled], i) => (cancelled ? [] : [i])));
      expect(deliveries.idle).toBe(true);
    }),
    { numRuns: 50 },
  );
});

describe("gates", () => {
  test("hold until every named request was made, and consume nothing", async () => {
    const { deliveries, made } = start();
    const order: string[] = [];
    const first = deliveries.wait(delivery("t1", 5, { after: ["t2", "t3"] }))!.promise.then(() => order.push("t1"));
    const second = deliveries.wait(delivery("t4", 9, { after: "t2" }))!.promise.then(() => order.push("t4"));
    await turn();
    expect(order).toEqual([]);
    made("t2");
    await second;
    expect(order).toEqual(["t4"]);
    made("t3");
    await first;
    expect(deliveries.wait(delivery("t1", 6, { after: "t3" }))).toBeDefined();
  });

  test("a pattern looks at everything that has happened and that will happen", async () => {
    const { deliveries, trace } = start();
    trace.push({ kind: "request", boundary: "http", method: "POST", url: "https://x.test/a" });
    await deliveries.wait(delivery("t1", 1, { after: { method: "POST" } }))!.promise;
    const later = deliveries.wait(delivery("t1", 2, { after: { kind: "response", status: 202 } }))!;
    trace.push({ kind: "response", boundary: "http", status: 202 });
    await later.promise;
  });

  test("one that nothing opens is a stall, which names what is waited for", async () => {
    const { deliveries, stalls, made } = start(30);
    const held = deliveries.wait(delivery("t1", 1, { after: ["t7", "t8"] }))!;
    made("t7");
    await expect(held.promise).rejects.toThrow("stalled");
    expect(stalls).toEqual([["t1 the request of track t8"]]);
  });

  test("requests and deliveries keep a held replay from being a stall", async () => {
    const { deliveries, made, stalls } = start(60);
    const held = deliveries.wait(delivery("t1", 1, { after: "t9" }))!;
    for (let i = 0; i < 6; i++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      made("t2");
    }
    expect(stalls).toEqual([]);
    made("t9");
    await held.promise;
  });
});

test("chunks of a stream that is read alone share a turn; another delivery ends that", async () => {
  const { deliveries } = start();
  const stream = {};
  await deliveries.wait(delivery("t1", 1, { stream }))!.promise;
  expect(deliveries.wait(delivery("t1", 2, { stream }))).toBeUndefined();
  const other = deliveries.wait(delivery("t2", 9))!;
  const mine = deliveries.wait(delivery("t1", 3, { stream }));
  expect(mine).toBeDefined();
  await Promise.all([other.promise, mine!.promise]);
});

test("a stream read at full speed still lets a turn of the event loop pass every millisecond", async () => {
  const { deliveries } = start();
  const stream = {};
  let turns = 0;
  let reading = true;
  const count = (): void => {
    turns++;
    if (reading) setImmediate(count);
  };
  setImmediate(count);
  const end = performance.now() + 50;
  while (performance.now() < end) await deliveries.wait(delivery("t1", 1, { stream }))?.promise;
  reading = false;
  expect(turns).toBeGreaterThan(5);
});
