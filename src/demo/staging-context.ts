import { createHash } from "node:crypto";
import type { StagingContext } from "./staging-exchange.ts";

const firstInstant = Date.UTC(2026, 2, 2, 9, 0, 0);

/** The state that the routes of one server share: ids, a clock and secrets that depend on the seed alone. */
export function createStagingContext(seed: number, paceMs: number, signal: AbortSignal): StagingContext {
  const secret = (name: string): string => createHash("sha256").update(`${seed} ${name}`).digest("hex").slice(0, 40);
  const prefix = secret("ids").slice(0, 4);
  const counts = new Map<string, number>();
  let seconds = 0;
  return {
    paceMs,
    signal,
    secret,
    nextId(kind) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${kind}_${prefix}_${count}`;
    },
    now: () => new Date(firstInstant + 1000 * seconds++),
  };
}
