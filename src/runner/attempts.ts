import type { RunnerTestCase, TestContext } from "vitest";
import { DeckFinished } from "../errors.ts";
import { strayEntries } from "./ledger-watch.ts";
import { TestDecks } from "./test-decks.ts";

/** What is needed of a test's context. */
export type TestHandle = Pick<TestContext, "task" | "onTestFinished">;

const current = new WeakMap<RunnerTestCase, TestDecks>();
const finishing = new Map<TestDecks, Promise<void>>();

/**
 * The decks of the attempt that is under way. The first to ask registers the end of it: before anything else of the
 * test does, so that it comes after everything else.
 */
export function decksOf({ task, onTestFinished }: TestHandle): TestDecks {
  const known = current.get(task);
  if (known !== undefined && !known.ended) return known;
  const decks = new TestDecks(task);
  current.set(task, decks);
  onTestFinished(() => {
    const finished = decks.finish();
    finishing.set(decks, finished);
    return finished.finally(() => finishing.delete(decks));
  });
  return decks;
}

const { setTimeout, clearTimeout } = globalThis;
const PATIENCE_MS = 5_000;

/**
 * The end of a file: throws for decks whose end does not come, and for violations that came while no test ran.
 * @param patienceMs how long those that are still being finished are waited for
 */
export async function endOfFile(patienceMs: number = PATIENCE_MS): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs);
  });
  await Promise.race([Promise.allSettled(finishing.values()), patience]);
  clearTimeout(timer);
  const errors: Error[] = [...finishing.keys()].map(
    ({ title }) =>
      new DeckFinished(
        `The decks of the test "${title}" were never finished: what they recorded is not written, what they saw not judged.\n  next      raise hookTimeout if the recording is very large; else this is a fault of wiretape: please report it`,
      ),
  );
  for (const entry of strayEntries()) {
    entry.reported = true;
    errors.push(entry.error);
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(({ message }) => message).join("\n\n"));
}
