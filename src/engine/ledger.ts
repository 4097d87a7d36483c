import type { WiretapeError } from "../errors.ts";
import type { Platform } from "./platform.ts";

/**
 * The process-wide list of violations. An error can be swallowed by an empty catch; an entry here cannot: the deck's
 * `finish()`, the test runner and the process's exit code all look at it.
 */
export interface LedgerEntry {
  readonly error: WiretapeError;
  /** The deck or double that it belongs to. */
  readonly owner: object;
  /** A test announced it. Nothing else settles an entry. */
  acknowledged: boolean;
  /** A test runner has failed a test with it. */
  reported: boolean;
}

export interface Ledger {
  readonly entries: LedgerEntry[];
  /** Called for each new entry. */
  readonly listeners: Set<(entry: LedgerEntry) => void>;
}

const key = Symbol.for("wiretape.ledger");

/** The ledger of this process, shared by every copy of the library in it. */
export function ledger(): Ledger {
  const holder = globalThis as { [key]?: Ledger };
  return (holder[key] ??= { entries: [], listeners: new Set() });
}

const watched = new WeakSet<Ledger>();

/** Enters a violation. The first one makes the process end with exit code 1 unless all are acknowledged. */
export function enter(error: WiretapeError, owner: object, platform: Platform): LedgerEntry {
  const book = ledger();
  const entry: LedgerEntry = { error, owner, acknowledged: false, reported: false };
  book.entries.push(entry);
  if (!watched.has(book)) {
    watched.add(book);
    platform.onExit((fail) => {
      const open = book.entries.filter((one) => !one.acknowledged && !one.reported);
      if (open.length === 0) return;
      fail(
        `wiretape: ${open.length} ${open.length === 1 ? "violation" : "violations"} in this process:\n\n${open.map((one) => `${one.error.name}: ${one.error.message}`).join("\n\n")}`,
      );
    });
  }
  for (const listener of book.listeners) listener(entry);
  return entry;
}
