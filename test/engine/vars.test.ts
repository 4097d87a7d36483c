import { describe, expect, test } from "vitest";
import { createDeck, type Deck, type DeckMode, memoryStore, OptionInvalid, parseCassette, VarMissing } from "wiretape";
import "../support/settled.ts";
import { textIn } from "../support/twice.ts";

const open = (store: ReturnType<typeof memoryStore>, mode: DeckMode): Promise<Deck> =>
  createDeck({ store, mode, unplayed: "ignore" });

test("a volatile value is recorded once and given again, and its maker is not called", async () => {
  const store = memoryStore();
  const deck = await open(store, "record");
  let made = 0;
  const make = async (): Promise<{ id: string; at: number }> => ({ id: `run-${++made}`, at: 1.5 });
  const [first, second] = await Promise.all([deck.var("run-id", make), deck.var("run-id", make)]);
  expect([first, second, made]).toEqual([{ id: "run-1", at: 1.5 }, first, 1]);
  await deck.finish();
  expect(parseCassette(await textIn(store)).vars).toEqual({ "run-id": { id: "run-1", at: 1.5 } });

  const replay = await open(store, "replay");
  const again = await replay.var("run-id", () => expect.fail("made again"));
  expect(again).toEqual(first);
  (again as { id: string }).id = "scribbled"; // the program's own copy
  await replay.finish();
  const third = await open(store, "replay");
  expect(await third.var("run-id", () => expect.fail("made again"))).toEqual(first);
  await third.finish();
});

test("one that was not recorded is VarMissing, which names those that were, and fails finish() when it is swallowed", async () => {
  const store = memoryStore();
  const deck = await open(store, "record");
  await deck.var("a", () => 1);
  await deck.finish();
  const replay = await open(store, "replay");
  await replay.var("b", () => 2).catch(() => undefined);
  const error = await replay.finish().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(VarMissing);
  expect((error as VarMissing).message).toMatch(
    /The variable "b" was not recorded\.\n {2}cassette {2}deck\.cassette\.json has a\n/,
  );
  for (const name of ["toString", "__proto__", "constructor"]) {
    const other = await open(store, "replay");
    await expect(other.var(name, () => 2)).rejects.toMatchObject({
      code: /^__proto__$/.test(name) ? "option-invalid" : "var-missing",
    });
    await other.finish("failed").catch(() => undefined);
  }
});

test("extend gives the recorded one and adds the new one; live makes it", async () => {
  const store = memoryStore();
  const deck = await open(store, "record");
  await deck.var("a", () => 1);
  await deck.finish();
  const extend = await open(store, "extend");
  expect([await extend.var("a", () => 9), await extend.var("b", () => 2)]).toEqual([1, 2]);
  await extend.finish();
  expect(parseCassette(await textIn(store)).vars).toEqual({ a: 1, b: 2 });
  const live = await open(store, "live");
  expect(await live.var("a", () => 7)).toBe(7);
  await live.finish();
});

describe("what cannot be written is refused at the call, not at the end", () => {
  test.each(["run id", "", "-a", "é"])("the name %j", async (name) => {
    for (const mode of ["record", "live"] as const) {
      const deck = await open(memoryStore(), mode);
      await expect(deck.var(name, () => 1)).rejects.toBeInstanceOf(OptionInvalid);
      await deck.finish();
    }
  });

  test.each([
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["a date", new Date(0)],
    ["a big integer", 1n],
    ["a function inside", { deep: [() => 1] }],
    ["undefined inside", { deep: undefined }],
    ["a map", new Map()],
  ])("a value that is no JSON: %s", async (_, value) => {
    const deck = await open(memoryStore(), "record");
    await expect(deck.var("v", () => value as never)).rejects.toBeInstanceOf(OptionInvalid);
    await deck.finish();
  });
});

test("a maker that failed may be tried again", async () => {
  const store = memoryStore();
  const deck = await open(store, "record");
  await expect(deck.var("port", () => Promise.reject(new Error("in use")))).rejects.toThrow("in use");
  expect(await deck.var("port", () => 8080)).toBe(8080);
  await deck.finish();
  expect(parseCassette(await textIn(store)).vars).toEqual({ port: 8080 });
});
