/** The time of a recording and of a timed replay. Durations are milliseconds. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Resolves after `ms` milliseconds of this clock; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A clock, or a double that has one for decks (`FakeClock`, whose own time is in seconds). */
export type ClockSource = Clock | { readonly deckClock: Clock };

/** The clock of a source, in milliseconds. */
export function clockOf(source: ClockSource): Clock {
  return "deckClock" in source ? source.deckClock : source;
}
