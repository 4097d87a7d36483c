import { expect, test } from "vitest";
import { createDeck, tapeFetch } from "wiretape";
import { ledger } from "../../src/engine/ledger.ts";

test("each violation is in the ledger of the process once, with its owner, until a test acknowledges it", async () => {
  const before = ledger().entries.length;
  const heard: string[] = [];
  const listener = ({ error }: { error: { code: string } }): void => void heard.push(error.code);
  ledger().listeners.add(listener);
  const deck = await createDeck({ cassette: { wiretape: 1, tracks: [] }, mode: "replay" });
  const fetch = tapeFetch(deck);
  await fetch("https://a.example/1").catch(() => undefined);
  await fetch("https://a.example/2").catch(() => undefined);
  ledger().listeners.delete(listener);
  const entries = ledger().entries.slice(before);
  expect(heard).toEqual(["unrecorded-request", "unrecorded-request"]);
  expect(entries.map(({ owner, acknowledged }) => [owner === deck, acknowledged])).toEqual([
    [true, false],
    [true, false],
  ]);
  deck.expectViolation("unrecorded-request");
  expect(entries.map(({ acknowledged }) => acknowledged)).toEqual([true, false]);
  await expect(deck.finish()).rejects.toBe(entries[1]?.error); // being thrown settles nothing
  expect(entries[1]?.acknowledged).toBe(false);
  deck.expectViolation("unrecorded-request");
  expect(entries.every(({ acknowledged }) => acknowledged)).toBe(true);
});

test("every copy of the library in a process shares one ledger", () => {
  const shared = (globalThis as Record<symbol, unknown>)[Symbol.for("wiretape.ledger")];
  expect(shared).toBe(ledger());
});
