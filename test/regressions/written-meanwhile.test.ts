import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { type Deck, type DeckOptions, openDeck, tapeFetch, withDeck } from "wiretape";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** What a person or another program wrote while a deck was open was lost, or the message had no next step. */
const scratch = useScratch();
const ask = async (deck: Deck, path: string): Promise<void> => {
  await (await tapeFetch(deck, async () => new Response("answer"))(`http://localhost/${path}`)).text();
};

async function extended(path: string, more: readonly string[]): Promise<{ error: unknown; text: string }> {
  await withDeck(path, { mode: "record" }, (deck) => ask(deck, "one"));
  const deck = await openDeck(path, { mode: "extend" });
  await ask(deck, "one");
  for (const one of more) await ask(deck, one);
  await writeFile(path, `${await readFile(path, "utf8")}// edited meanwhile\n`);
  const error = await deck.finish().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, text: await readFile(path, "utf8") };
}

test("an edit that is made while a cassette is extended stays, and so does what was recorded", async () => {
  const path = scratch.cassette();
  const { error, text } = await extended(path, ["two"]);
  expect(text).toContain("// edited meanwhile");
  expect(error).toMatchObject({ code: "cassette-exists" });
  expect((error as Error).message).toContain("was changed while it was extended; it was left as it is.");
  expect((error as Error).message).toContain("wiretape recover");
  expect((await readdir(dirname(path))).sort()).toEqual(["tape.cassette.json", "tape.recording.jsonl"]);
});

test("it stays as well where nothing was added, which is no fault", async () => {
  const { error, text } = await extended(scratch.cassette(), []);
  expect(text).toContain("// edited meanwhile");
  expect(error).toBeUndefined();
});

test("a file that comes into being during a recording stays, and the message says where the recording is", async () => {
  const path = scratch.cassette();
  const deck = await openDeck(path, { mode: "record" });
  await ask(deck, "one");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "mine");
  await expect(deck.finish()).rejects.toThrow(/came into being while it was recorded.*\n.*wiretape recover/);
  expect(await readFile(path, "utf8")).toBe("mine");
});

test.each([
  [null, /got null/],
  [[], /got a list/],
  [{ match: { ignore: "/body/x" } }, /match\.ignore is "\/body\/x"; it is a list/],
  [{ match: "strict" }, /match is string; it is an object/],
])("options %j are refused in words", async (options, message) => {
  const error = await openDeck(scratch.cassette(), options as unknown as DeckOptions).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: "option-invalid", message: expect.stringMatching(message) });
});

test("withDeck without a body says where the body belongs, and locks nothing", async () => {
  const path = scratch.cassette();
  const body = async (): Promise<void> => undefined;
  const error = await withDeck(path, body as never, undefined as never).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "option-invalid", message: expect.stringContaining("withDeck(path, {}, body)") });
  await withDeck(path, { mode: "record" }, (deck) => ask(deck, "one"));
});
