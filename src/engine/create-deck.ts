import { memoryStore } from "../cassette/memory-store.ts";
import type { Cassette } from "../cassette/schema.ts";
import type { CassetteStore } from "../cassette/store.ts";
import { OptionInvalid } from "../errors.ts";
import type { Deck } from "./deck.ts";
import { checkOptions, type DeckOptions } from "./options.ts";
import { platform } from "./platform.ts";
import { startDeck } from "./start-deck.ts";

/** A deck over a cassette that is a value, or over any store. */
export interface CreateDeckOptions extends DeckOptions {
  /** The cassette to replay. */
  cassette?: Cassette;
  /** Where the cassette is, or will be written. Default: memory. */
  store?: CassetteStore;
  /** Its name in the store. Default `deck.cassette.json`. */
  name?: string;
}

/**
 * Opens a deck without touching the file system: over a given cassette, or a store of yours. After `finish()` of a
 * recording, `deck.cassette` is what was recorded.
 */
export async function createDeck(options: CreateDeckOptions = {}): Promise<Deck> {
  checkOptions(options, ["cassette", "store", "name"]);
  const { cassette, store, name = "deck.cassette.json", ...rest } = options;
  if (cassette !== undefined && store !== undefined) {
    throw new OptionInvalid(
      "A deck is over a cassette or over a store, not both: drop one of the options cassette and store.",
    );
  }
  const place = { store: cassette === undefined ? (store ?? memoryStore()) : undefined, name, display: name, cassette };
  return startDeck(place, rest, platform);
}
