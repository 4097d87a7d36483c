/** `wiretape/vitest`: decks in vitest. Importing it registers the matchers. */
export type { WiretapeMatchers } from "./runner/matchers.ts";
export type { TestDeckOptions } from "./runner/options.ts";
export { type CurrentDeck, useDeck } from "./runner/vitest-deck.ts";
export { type TapeFixtures, test } from "./runner/vitest-test.ts";
