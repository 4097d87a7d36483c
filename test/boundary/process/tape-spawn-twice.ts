import type { ChildProcess, spawn as nodeSpawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type CassetteStore, createDeck, type Deck, type DeckOptions, memoryStore } from "wiretape";
import { tapeSpawn } from "wiretape/process";

export type Spawn = typeof nodeSpawn;
/** A program: it gets a taped spawn, and gives what it saw. */
export type Program<T> = (spawn: Spawn, deck: Deck) => Promise<T>;

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/process/tape-${name}.mjs`, import.meta.url));

/** Lines of the program `tape-play`. */
export type Line =
  | ["out" | "err", string]
  | ["pause" | "bytes" | "exit" | "stay", number]
  | ["eof"]
  | ["on" | "ignore" | "signal", NodeJS.Signals]
  | ["repeat", [number, string]]
  | ["on exit", [NodeJS.Signals, number]];

/** The arguments that make Node play a script. Texts of the script are Latin-1: a character a byte. */
export function playing(lines: readonly Line[]): [string, string[]] {
  const script = lines.map(([what, value]) =>
    what === "out" || what === "err"
      ? [what, Buffer.from(value as string, "latin1").toString("base64")]
      : [what, value],
  );
  return [process.execPath, [fixture("play"), JSON.stringify(script)]];
}

/** Runs a program while recording and again in replay, where nothing may be started. It must see the same. */
export async function twice<T>(
  program: Program<T>,
  options: DeckOptions = {},
): Promise<{ seen: T; store: CassetteStore; text: string }> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record", ...options });
  const seen = await program(tapeSpawn(recorder), recorder);
  await recorder.finish();
  expect(await again(store, program)).toEqual(seen);
  const text = new TextDecoder().decode(await store.read("deck.cassette.json"));
  return { seen, store, text };
}

/** Replays a stored recording. */
export async function again<T>(store: CassetteStore, program: Program<T>, options: DeckOptions = {}): Promise<T> {
  const deck = await createDeck({ store, mode: "replay", ...options });
  const seen = await program(tapeSpawn(deck, never), deck);
  await deck.finish();
  return seen;
}

export const never = (() => {
  throw new Error("replay started a process");
}) as unknown as Spawn;

/** Records only. */
export async function recorded(program: Program<unknown>, options: DeckOptions = {}): Promise<CassetteStore> {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record", ...options });
  await program(tapeSpawn(deck), deck);
  await deck.finish();
  return store;
}

export type Told = [name: string, ...values: unknown[]];

/** Everything that a child says, as it says it; `exit` and `close` are its last words. */
export function listen(child: ChildProcess): { told: Told[]; end: Promise<Told[]> } {
  const told: Told[] = [];
  for (const from of ["stdout", "stderr"] as const) {
    child[from]?.on("data", (data: Buffer) => told.push([from, data.toString("latin1")]));
  }
  child.on("spawn", () => told.push(["spawn"]));
  child.on("error", (error: NodeJS.ErrnoException) => {
    const { name, message, code, errno, syscall, path } = error;
    told.push(["error", { name, message, code, errno, syscall, path }]);
  });
  let exit: unknown[] = [];
  child.on("exit", (...values) => (exit = ["exit", ...values]));
  const end = new Promise<Told[]>((resolve) => {
    child.on("close", (...values) => resolve([...told, exit as Told, ["close", ...values]]));
  });
  return { told, end };
}

/** Resolves when the child has said a text (of one stream). */
export function said(child: ChildProcess, text: string, from: "stdout" | "stderr" = "stdout"): Promise<void> {
  let whole = "";
  return new Promise((resolve) => {
    child[from]?.on("data", function look(this: unknown, data: Buffer) {
      whole += data.toString("latin1");
      if (whole.includes(text)) resolve();
    });
  });
}
