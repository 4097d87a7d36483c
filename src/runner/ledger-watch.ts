import { type LedgerEntry, ledger } from "../engine/ledger.ts";
import { failRun, withLead } from "./verdict.ts";

/**
 * Whose violation is it? A deck of a test belongs to that test. One of another owner (a double, a deck that the
 * program opened itself) belongs to the tests that ran when it came, and is laid to the last of them that ends: until
 * then each of them may still acknowledge it.
 */

/** Anything that stands for a running test. */
type Running = object;

const running = new Set<Running>();
const suspects = new WeakMap<LedgerEntry, Set<Running>>();
/** Who answers for a deck: nobody else needs to while its test runs; after that, the title of the test. */
const decks = new WeakMap<object, { endedTest: string | undefined }>();
let watching = false;

/** A test began. */
export function testBegan(test: Running): void {
  if (!watching) {
    watching = true;
    ledger().listeners.add(noteEntry);
  }
  running.add(test);
}

/** A test ended: the violations of other owners that are left to it. */
export function testEnded(test: Running): LedgerEntry[] {
  running.delete(test);
  return openEntries().filter((entry) => {
    const tests = suspects.get(entry);
    return tests?.delete(test) === true && tests.size === 0;
  });
}

/** A test opened a deck, and will look at its violations when it ends. */
export function deckOpened(deck: object): void {
  decks.set(deck, { endedTest: undefined });
}

/** A deck's test has ended: what it is asked from now on comes too late for the test and fails the run. */
export function deckEnded(deck: object, title: string): void {
  decks.set(deck, { endedTest: title });
}

/** The violations of a deck that nobody announced. */
export function openEntriesOf(deck: object): LedgerEntry[] {
  return openEntries().filter(({ owner }) => owner === deck);
}

/** What no test was asked about, because none ran when it came. */
export function strayEntries(): LedgerEntry[] {
  return openEntries().filter((entry) => !decks.has(entry.owner) && (suspects.get(entry)?.size ?? 0) === 0);
}

function openEntries(): LedgerEntry[] {
  return ledger().entries.filter(({ acknowledged, reported }) => !acknowledged && !reported);
}

function noteEntry(entry: LedgerEntry): void {
  const deck = decks.get(entry.owner);
  if (deck === undefined) suspects.set(entry, new Set(running));
  else if (deck.endedTest !== undefined) {
    entry.reported = true;
    failRun(withLead(`After the test "${deck.endedTest}" had ended:`, entry.error));
  }
}
