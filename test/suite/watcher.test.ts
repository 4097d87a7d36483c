import { expect, test } from "vitest";
import { openWatcher } from "../../src/suite/watcher.ts";

type Event = { type: string };

async function* events(...types: string[]): AsyncGenerator<Event> {
  for (const type of types) yield { type };
}

test("finds what has arrived, and what arrives later", async () => {
  const watcher = openWatcher<Event>(() => events("one", "two"));
  expect(await watcher.until("two", ({ type }) => type === "two")).toEqual({ type: "two" });
  expect(await watcher.until("one", ({ type }) => type === "one")).toEqual({ type: "one" });
  await watcher.ended();
});

test("a watch that ends first says what was waited for and what came", async () => {
  const watcher = openWatcher<Event>(() => events("one", "two"));
  await expect(watcher.until("three", ({ type }) => type === "three")).rejects.toThrow(
    "The watch ended before three; arrived: one, two.",
  );
});

test("a watch that fails rejects everyone, and again when it is closed", async () => {
  const failing = async function* (): AsyncGenerator<Event> {
    yield { type: "one" };
    throw new Error("broken");
  };
  const watcher = openWatcher<Event>(failing);
  await expect(watcher.until("two", ({ type }) => type === "two")).rejects.toThrow("broken");
  await expect(watcher.close()).rejects.toThrow("broken");
});

test("closing aborts the watch and waits for its end", async () => {
  const watcher = openWatcher<Event>(async function* (signal) {
    yield { type: "one" };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  await watcher.until("one", () => true);
  await watcher.close();
  expect(watcher.events).toEqual([{ type: "one" }]);
});
