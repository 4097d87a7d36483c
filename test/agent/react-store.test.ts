import { expect, test } from "vitest";
import { watchedStore } from "../../src/agent/react-store.ts";

/** A watch that is fed by hand and counts how often it is open. */
function handFed() {
  const feeds: { push(value: number): void; fail(error: Error): void; signal: AbortSignal }[] = [];
  const watch = async function* (signal: AbortSignal): AsyncGenerator<number> {
    const line: (() => number)[] = [];
    let wake = (): void => undefined;
    const put = (item: () => number): void => {
      line.push(item);
      wake();
    };
    signal.addEventListener("abort", () => wake());
    feeds.push({
      push: (value) => put(() => value),
      fail: (error) =>
        put(() => {
          throw error;
        }),
      signal,
    });
    while (!signal.aborted) {
      const next = line.shift();
      if (next !== undefined) yield next();
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  };
  return { feeds, store: watchedStore(0, watch) };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

test("one watch for all subscribers, open while there is one", async () => {
  const { feeds, store } = handFed();
  let changes = 0;
  const onChange = () => changes++;
  const first = store.subscribe(onChange);
  const second = store.subscribe(onChange);
  expect(feeds.length).toBe(1);
  feeds[0]?.push(7);
  await turn();
  expect([store.snapshot().value, changes]).toEqual([7, 2]);
  expect(store.snapshot()).toBe(store.snapshot());
  first();
  expect(feeds[0]?.signal.aborted).toBe(false);
  second();
  expect(feeds[0]?.signal.aborted).toBe(true);
  expect(store.snapshot().value).toBe(7);
});

test("a watch that was left says nothing to the one that follows it", async () => {
  const { feeds, store } = handFed();
  store.subscribe(() => undefined)();
  const stop = store.subscribe(() => undefined);
  feeds[1]?.push(2);
  await turn();
  feeds[0]?.push(1);
  await turn();
  expect([feeds.length, store.snapshot().value]).toEqual([2, 2]);
  stop();
});

test("a watch that fails is told, and opened again by the next subscriber", async () => {
  const { feeds, store } = handFed();
  const failure = new Error("the line is dead");
  const stop = store.subscribe(() => undefined);
  feeds[0]?.push(3);
  feeds[0]?.fail(failure);
  await turn();
  expect(store.snapshot()).toEqual({ value: 3, failure: { error: failure } });
  stop();
  const again = store.subscribe(() => undefined);
  expect(store.snapshot()).toEqual({ value: 3 });
  feeds[1]?.push(4);
  await turn();
  expect(store.snapshot()).toEqual({ value: 4 });
  again();
});

test("a watch that does not hear the abort is not listened to any more", async () => {
  const deaf: ((value: number) => void)[] = [];
  const store = watchedStore(0, async function* () {
    yield await new Promise<number>((resolve) => deaf.push(resolve));
  });
  store.subscribe(() => undefined)();
  const stop = store.subscribe(() => undefined);
  deaf[0]?.(1);
  await turn();
  expect(store.snapshot().value).toBe(0);
  deaf[1]?.(2);
  await turn();
  expect(store.snapshot().value).toBe(2);
  stop();
});

test("a watch that the backend closed is opened again when it is revived, and only then", async () => {
  let opened = 0;
  const store = watchedStore(0, async function* () {
    yield ++opened;
  });
  store.revive();
  expect(opened).toBe(0);
  const stop = store.subscribe(() => undefined);
  await turn();
  expect(store.snapshot().value).toBe(1);
  store.revive();
  await turn();
  expect(store.snapshot().value).toBe(2);
  stop();
  store.revive();
  await turn();
  expect(opened).toBe(2);
});
