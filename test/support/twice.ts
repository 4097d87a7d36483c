import { expect } from "vitest";
import { type CassetteStore, createDeck, type Deck, type DeckOptions, memoryStore, tapeFetch } from "wiretape";

/** What a program did in both modes, and the cassette between them. */
export interface Twice<T> {
  readonly recorded: T;
  readonly replayed: T;
  readonly text: string;
  readonly store: CassetteStore;
}

/**
 * Runs a program while recording, then again while replaying with `gone` called between (the server is closed), and
 * finishes both decks. The program must see the same.
 */
export async function twice<T>(
  program: (fetch: typeof globalThis.fetch, deck: Deck) => Promise<T>,
  options: { gone?: () => Promise<void>; record?: DeckOptions; replay?: DeckOptions } = {},
): Promise<Twice<T>> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record", ...options.record });
  const recorded = await program(tapeFetch(recorder), recorder);
  await recorder.finish();
  await options.gone?.();
  const text = await textIn(store);
  const { replayed } = await again(store, program, options.replay);
  expect(replayed).toEqual(recorded);
  return { recorded, replayed, text, store };
}

/** Replays a program over a stored cassette, with a network that must not be touched. */
export async function again<T>(
  store: CassetteStore,
  program: (fetch: typeof globalThis.fetch, deck: Deck) => Promise<T>,
  options: DeckOptions = {},
): Promise<{ replayed: T; deck: Deck }> {
  const deck = await createDeck({ store, mode: "replay", ...options });
  const offline = (): never => {
    throw new Error("replay touched the network");
  };
  const replayed = await program(tapeFetch(deck, offline), deck);
  await deck.finish();
  return { replayed, deck };
}

export async function textIn(store: CassetteStore, name = "deck.cassette.json"): Promise<string> {
  return new TextDecoder().decode(await store.read(name));
}
