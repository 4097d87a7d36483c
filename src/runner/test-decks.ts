import { dirname, join, relative } from "node:path";
import type { RunnerTestCase } from "vitest";
import type { Deck } from "../engine/deck.ts";
import type { LedgerEntry } from "../engine/ledger.ts";
import { openTitledDeck } from "../engine/open-deck.ts";
import { DeckFinished } from "../errors.ts";
import { cassettePath, type TestName, testName } from "./cassette-path.ts";
import { claimPath } from "./claims.ts";
import { deckEnded, deckOpened, openEntriesOf, testBegan, testEnded } from "./ledger-watch.ts";
import { splitOptions, type TestDeckOptions } from "./options.ts";
import { failRun, hiddenBy, isShown, outcomeOf, withLead } from "./verdict.ts";

/** The decks of one attempt at a test: opened while it runs, finished together when it has ended. */
export class TestDecks {
  readonly #task: RunnerTestCase;
  readonly #name: TestName;
  readonly #opening: Promise<Deck>[] = [];
  readonly #paths = new Map<Deck, string>();
  #finishing: Promise<void> | undefined;

  constructor(task: RunnerTestCase) {
    this.#task = task;
    this.#name = testName(task);
    testBegan(this);
  }

  /** The full name of the test. */
  get title(): string {
    return this.#name.title;
  }

  /** Whether the test has ended. */
  get ended(): boolean {
    return this.#finishing !== undefined;
  }

  /** Opens a deck that lives as long as this attempt. `name` tells a further deck from the test's own. */
  open(options: TestDeckOptions, name?: string): Promise<Deck> {
    const opening = this.#open(options, name);
    this.#opening.push(opening);
    return opening;
  }

  /**
   * Finishes all decks: the test's verdict decides what becomes of recordings. Throws what was violated; where the
   * test would hide it, the run fails instead.
   */
  finish(): Promise<void> {
    this.#finishing ??= this.#finish();
    return this.#finishing;
  }

  async #open(options: TestDeckOptions, name: string | undefined): Promise<Deck> {
    if (this.ended) {
      const error = new DeckFinished(
        `A deck was opened after its test, "${this.title}", had ended.\n  next      await everything that the test starts`,
      );
      failRun(error);
      throw error;
    }
    const { place, deck: deckOptions } = splitOptions(options);
    const path = cassettePath(this.#name, place, name);
    claimPath(path, this.#task, this, { title: this.title, derived: place.path === undefined });
    const shown = relative(process.cwd(), path);
    const deck = await openTitledDeck(shown.startsWith("..") ? path : shown, deckOptions, this.title);
    deckOpened(deck);
    this.#paths.set(deck, path);
    return deck;
  }

  async #finish(): Promise<void> {
    const errors: unknown[] = [];
    const opened = await Promise.allSettled(this.#opening);
    // Without its cassette a test fails at once, which a test that is marked as failing must not take for its failure.
    if (this.#task.fails === true) {
      errors.push(...opened.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])));
    }
    const decks = [...this.#paths.keys()];
    const writes = (deck: Deck): boolean => deck.mode === "record" || deck.mode === "extend";
    // What only reads is judged first: a recording is written only if nothing at all went wrong.
    for (const deck of decks.filter((one) => !writes(one))) await this.#finishDeck(deck, errors);
    errors.push(...report(testEnded(this)));
    for (const deck of decks.filter(writes)) await this.#finishDeck(deck, errors);
    this.#raise(errors);
  }

  async #finishDeck(deck: Deck, errors: unknown[]): Promise<void> {
    const outcome = errors.length > 0 ? "failed" : outcomeOf(this.#task);
    let thrown: unknown[] = [];
    try {
      const { parked } = await deck.finish(outcome);
      if (parked !== undefined) this.#tellParked(deck, parked);
    } catch (error) {
      thrown = [error];
    }
    const open = report(openEntriesOf(deck));
    errors.push(...(thrown.length > 0 ? thrown : open));
    deckEnded(deck, this.title);
  }

  #tellParked(deck: Deck, parked: string): void {
    const path = this.#paths.get(deck) as string;
    const kept = relative(process.cwd(), join(dirname(path), parked));
    console.warn(`wiretape: the test did not pass, so its recording was not written; it is kept as ${kept}`);
  }

  #raise(errors: unknown[]): void {
    const hidden = hiddenBy(this.#task);
    if (hidden !== undefined) {
      for (const error of errors) failRun(withLead(`The test "${this.title}" ${hidden}:`, error));
      return;
    }
    const fresh = errors.filter((error) => !isShown(this.#task, error));
    if (fresh.length === 1) throw fresh[0];
    if (fresh.length > 1) {
      const texts = fresh.map((error) => (error instanceof Error ? error.message : String(error)));
      throw new AggregateError(fresh, `${fresh.length} things went wrong:\n\n${texts.join("\n\n")}`);
    }
  }
}

/** Notes that a test answers for these violations; their errors. */
function report(entries: readonly LedgerEntry[]): unknown[] {
  for (const entry of entries) entry.reported = true;
  return entries.map(({ error }) => error);
}
