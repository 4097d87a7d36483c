/** Deterministic names for what is made: `run_1`, `run_2`… */
export interface Ids {
  /** The next free name with this prefix. */
  next(prefix: string): string;
  /** Takes a name out of the count: it was given by somebody else. */
  claim(id: string): void;
  clear(): void;
}

/** A count of names that starts at 1 for every prefix. */
export function createIds(): Ids {
  const counts = new Map<string, number>();
  const claimed = new Set<string>();
  return {
    next(prefix) {
      let count = counts.get(prefix) ?? 0;
      let id: string;
      do id = `${prefix}_${++count}`;
      while (claimed.has(id));
      counts.set(prefix, count);
      return id;
    },
    claim: (id) => void claimed.add(id),
    clear() {
      counts.clear();
      claimed.clear();
    },
  };
}
