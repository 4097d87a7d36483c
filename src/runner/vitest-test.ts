import { test as base, expect, type TestAPI } from "vitest";
import type { Deck } from "../engine/deck.ts";
import { decksOf, endOfFile } from "./attempts.ts";
import { wiretapeMatchers } from "./matchers.ts";
import type { TestDeckOptions } from "./options.ts";
import type { TestDecks } from "./test-decks.ts";

/** What a test of `wiretape/vitest` is given. */
export interface TapeFixtures {
  /**
   * How `deck` and `openDeck` open their cassettes: `test.override({ deckOptions: { … } })` for a file or a `describe`,
   * `test.extend({ deckOptions: { … } })` for a test function of one's own. Before vitest 4.1 it is `test.scoped`.
   */
  deckOptions: TestDeckOptions;
  /** The test's own deck, over a cassette that is named after the test. */
  deck: Deck;
  /**
   * Opens a further deck of the same test, over a cassette of its own: `await openDeck("billing")`. Without a name it
   * is the test's own deck, opened later or with other options. It is finished with the test.
   */
  openDeck: (name?: string, options?: TestDeckOptions) => Promise<Deck>;
}

interface Inner extends TapeFixtures {
  wiretapeFile: undefined;
  wiretapeDecks: TestDecks;
}

// Harmless where nobody uses them: three names that vitest does not have, which refuse whatever is not a deck.
expect.extend(wiretapeMatchers);

/**
 * Vitest's `test` with tape in it: `test("pays", async ({ deck }) => { … tapeFetch(deck) … })`.
 *
 * The cassette is `__cassettes__/<test file>/<test>-<hash>.cassette.json` beside the test file. The mode is that of
 * `WIRETAPE_MODE`, else `replay` where `CI` is set, else `auto`; vitest's `-u` changes nothing. A recording is written
 * when the test passed, and kept aside when it did not. A violation fails the test even when the program caught it;
 * where the test cannot carry it (it is marked `fails`, skipped itself, or has ended) it fails the run. Each attempt
 * of a retried test, and each concurrent test, has a deck of its own.
 */
export const test: TestAPI<TapeFixtures> = base.extend<Inner>({
  wiretapeFile: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads which fixtures are needed from this very pattern
    async ({}, use) => {
      await use(undefined);
      await endOfFile();
    },
    { scope: "file", auto: true },
  ],
  // For every test, whether it asks for a deck or not: the violations of doubles are judged here as well.
  wiretapeDecks: [
    async ({ task, onTestFinished }, use) => {
      await use(decksOf({ task, onTestFinished }));
    },
    { auto: true },
  ],
  deckOptions: {},
  deck: async ({ wiretapeDecks, deckOptions }, use) => {
    await use(await wiretapeDecks.open(deckOptions));
  },
  openDeck: async ({ wiretapeDecks, deckOptions }, use) => {
    const { path: _own, ...shared } = deckOptions;
    await use((name, options) =>
      wiretapeDecks.open({ ...(name === undefined ? deckOptions : shared), ...options }, name),
    );
  },
}) as TestAPI<TapeFixtures>;
