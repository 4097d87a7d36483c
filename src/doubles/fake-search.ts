import { copyOf } from "./copy-of.ts";
import { type Dictionary, entriesOf, firstMatch } from "./dictionary.ts";
import type { SearchHit, SearchPort } from "./ports.ts";

/**
 * Search hits without a search: a list answers every query, a dictionary by what the query contains (the first key wins;
 * an unknown query finds nothing). Hits are copies.
 */
export class FakeSearch implements SearchPort {
  /** The queries so far. */
  readonly queries: string[] = [];
  readonly #hits: readonly (readonly [string, readonly SearchHit[]])[];

  constructor(hits: readonly SearchHit[] | Dictionary<readonly SearchHit[]>) {
    // A list is what everything finds.
    const dictionary = Array.isArray(hits) ? { "": hits } : (hits as Dictionary<readonly SearchHit[]>);
    this.#hits = copyOf(entriesOf("FakeSearch", dictionary, Array.isArray, "list of hits"));
  }

  /** @param k how many at most. Default: all */
  async search(query: string, k?: number): Promise<readonly SearchHit[]> {
    this.queries.push(query);
    return copyOf((firstMatch(this.#hits, query) ?? []).slice(0, k));
  }
}
