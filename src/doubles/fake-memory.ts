import { checkKeys } from "./check-keys.ts";
import { copyOf } from "./copy-of.ts";
import type { MemoryItem, MemorySource } from "./ports.ts";

export interface FakeMemoryOptions {
  /** Default `fake_memory`. */
  readonly name?: string;
  /** What each query finds. */
  readonly responses?: Readonly<Record<string, readonly MemoryItem[]>>;
  /** What a query finds that has no response of its own. Default: nothing. */
  readonly default?: readonly MemoryItem[];
  /** What every query finds, whatever it is. */
  readonly items?: readonly MemoryItem[];
}

/** A memory that finds what it was told to, the first `k` of it, and keeps what it was asked and given. */
export class FakeMemory implements MemorySource {
  readonly name: string;
  /** Every query: what, how many, and where (`null` where that was not said). */
  readonly queries: [query: string, k: number | undefined, where: unknown][] = [];
  /** Every batch that was written. */
  readonly writes: MemoryItem[][] = [];
  readonly #options: FakeMemoryOptions;

  constructor(options: FakeMemoryOptions = {}) {
    checkKeys("FakeMemory", options, ["name", "responses", "default", "items"]);
    this.name = options.name ?? "fake_memory";
    this.#options = copyOf(options);
  }

  async query(query: string, k?: number, where: unknown = null): Promise<readonly MemoryItem[]> {
    this.queries.push([query, k, where]);
    const { items, responses = {}, default: fallback = [] } = this.#options;
    const own = Object.hasOwn(responses, query) ? responses[query] : fallback;
    return copyOf((items ?? own ?? []).slice(0, k));
  }

  async write(items: readonly MemoryItem[]): Promise<void> {
    this.writes.push(copyOf([...items]));
  }
}
