import { basename } from "node:path";
import type { RunnerTestCase } from "vitest";
import { OptionInvalid } from "../errors.ts";

interface Claim {
  readonly task: RunnerTestCase;
  readonly attempt: object;
}

// By file of this run, so that a rerun in watch mode begins anew.
const claims = new WeakMap<RunnerTestCase["file"], Map<string, Claim>>();

/**
 * Makes a cassette the one of an attempt at a test. Throws `OptionInvalid` where that attempt has a deck over it
 * already, and where another test would come to share it only because both have the same name.
 */
export function claimPath(
  path: string,
  task: RunnerTestCase,
  attempt: object,
  { title, derived }: { title: string; derived: boolean },
): void {
  let taken = claims.get(task.file);
  if (taken === undefined) claims.set(task.file, (taken = new Map()));
  const key = path.toLowerCase(); // one file, where file names have no case
  const claim = taken.get(key);
  taken.set(key, { task, attempt });
  if (claim === undefined || (claim.task !== task && !derived)) return;
  if (claim.attempt === attempt) {
    throw new OptionInvalid(
      `The test "${title}" already has a deck over ${basename(path)}.\n  next      use the one it has, or give a further one a name: openDeck("name")`,
      { path },
    );
  }
  if (claim.task === task) return; // a retry, or a repetition
  throw new OptionInvalid(
    [
      `Two tests are called "${title}", and a cassette is named after its test: they would share ${basename(path)}.`,
      '  next      rename one; in test.each, let the name tell the cases apart ("case %#", "$id"); or say that they share one: useDeck({ path: "…" })',
    ].join("\n"),
    { path },
  );
}
