import type { SearchHit, SearchPort } from "./ports.ts";

/**
 * Search hits without a search: a list answers every query, a dictionary by what the query contains (the first key wins;
 * an unknown query finds nothing).
 */
export class FakeSearch implements SearchPort {
  /** The queries so far. */
  readonly queries: string[] = [];
  readonly #hits: readonly SearchHit[] | Readonly<Record<string, readonly SearchHit[]>>;

  constructor(hits: readonly SearchHit[] | Readonly<Record<string, readonly SearchHit[]>>) {
    this.#hits = structuredClone(hits);
  }

  async search(query: string, k?: number): Promise<readonly SearchHit[]> {
    this.queries.push(query);
    return structuredClone(this.#find(query).slice(0, k));
  }

  #find(query: string): readonly SearchHit[] {
    if (Array.isArray(this.#hits)) return this.#hits as readonly SearchHit[];
    const hits = this.#hits as Readonly<Record<string, readonly SearchHit[]>>;
    const key = Object.keys(hits).find((part) => query.includes(part));
    return key === undefined ? [] : (hits[key] as readonly SearchHit[]);
  }
}
