import { afterAll, beforeEach, type RunnerTestCase } from "vitest";
import type { Deck } from "../engine/deck.ts";
import { OptionInvalid } from "../errors.ts";
import { decksOf, endOfFile } from "./attempts.ts";
import { splitOptions, type TestDeckOptions } from "./options.ts";
import type { TestDecks } from "./test-decks.ts";

/**
 * The deck of the test that runs. Where tests run at once it must be told which: `deck(context)`, with the test's own
 * context. Throws `OptionInvalid` outside of a test, and where it cannot know which test asks.
 */
export type CurrentDeck = (context?: { readonly task: RunnerTestCase }) => Deck;

/**
 * Gives every test of this file or `describe` a deck, whatever its `test` function: the same as the fixture `deck` of
 * `wiretape/vitest`'s own `test`. Registers hooks, and only when it is called. Returns how to get at the deck.
 */
export function useDeck(options: TestDeckOptions = {}): CurrentDeck {
  splitOptions(options); // a wrong option is an error here, not in every test
  const open = new Map<RunnerTestCase, { decks: TestDecks; deck: Deck }>();
  // Destructured, because vitest reads which fixtures a hook needs from its text.
  beforeEach(async ({ task, onTestFinished }) => {
    const decks = decksOf({ task, onTestFinished });
    for (const [other, { decks: past }] of open) if (past.ended) open.delete(other);
    open.set(task, { decks, deck: await decks.open(options) });
  });
  afterAll(() => endOfFile());
  return (context) => {
    const live = [...open].filter(([, { decks }]) => !decks.ended);
    const found = context === undefined ? live : live.filter(([task]) => task === context.task);
    const [first] = found;
    if (first !== undefined && found.length === 1) return first[1].deck;
    throw new OptionInvalid(
      found.length > 1
        ? `${found.length} tests run at once, and the deck of each is another: say which one is meant with its context.\n  next      test.concurrent("…", async (context) => { deck(context) }), or the fixture: ({ deck }) => …`
        : "There is no deck here: useDeck() opens one before each test below it, and finishes it when the test has ended.\n  next      ask for the deck inside a test, or in its beforeEach, below the useDeck() that it comes from",
    );
  };
}
