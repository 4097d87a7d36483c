import type { Cassette, Json, Track } from "../cassette/schema.ts";
import { DeckFinished, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import type { PlayedTrack } from "./player.ts";
import type { Lane } from "./session.ts";
import type { TraceEvent } from "./trace.ts";

/** What a deck did, told when it is finished. */
export interface DeckReport {
  readonly mode: Deck["mode"];
  readonly outcome: "passed" | "failed";
  /** How messages call the cassette: its path, where it is a file. */
  readonly cassette: string;
  /** Tracks of the cassette that were played at least once. */
  readonly played: number;
  /** Tracks that were recorded. */
  readonly recorded: number;
  /** The name of the cassette that was written. */
  readonly written?: string;
  /** Where the recording of a failed body was kept. */
  readonly parked?: string;
  /** How often each redaction rule replaced something. */
  readonly replacements: Readonly<Record<string, number>>;
  /** Claims that were given back because the program aborted before any part of the answer. */
  readonly returned: number;
  readonly warnings: readonly string[];
}

/**
 * A cassette, a mode and the cursors: what a program is given.
 *
 * The same code runs in every mode. In replay, a request that the recording does not allow throws where it happens and
 * stays on the deck, so that `finish()` fails even when the program swallowed the error.
 */
export interface Deck extends Lane, AsyncDisposable {
  /** What the deck decided to do. */
  readonly mode: "replay" | "record" | "extend" | "live";
  /** The cassette, deeply frozen: the loaded one, or after `finish()` the recorded one. */
  readonly cassette: Cassette | undefined;
  /** How many recorded tracks were not played yet. */
  readonly remaining: number;
  readonly played: readonly PlayedTrack[];
  readonly unplayed: readonly Track[];
  /** What the program asked for and the recording does not allow, acknowledged ones included. */
  readonly violations: readonly WiretapeError[];
  /** The append-only log of what crossed the boundaries. */
  readonly trace: readonly TraceEvent[];
  /** A lane of this deck: a named sequence of tracks with its own order. The same name gives the same lane. */
  lane(name: string): Lane;
  /**
   * Acknowledges one violation of this code that the test is about (a request that is asked again and again counts as
   * one). It may come later; if it never comes, `finish()` throws `ExpectationUnmet`.
   */
  expectViolation(code: WiretapeErrorCode): void;
  /**
   * A value that differs from run to run (an id, a time, a port): recorded once, given again in replay. `make` is not
   * called in replay; a variable that was not recorded is `VarMissing`.
   */
  var<T extends Json>(name: string, make: () => T | Promise<T>): Promise<T>;
  /**
   * Ends the deck. In replay it throws what was violated, then `UnplayedTracks` when tracks were left and the outcome
   * is `passed`. In record it commits on `passed`: prints, verifies, scans for secrets, writes atomically; on `failed`
   * it keeps the recording beside the cassette, which stays as it was. Default `passed`. A second call gives the
   * first one's result.
   */
  finish(outcome?: "passed" | "failed"): Promise<DeckReport>;
}

/** The violations of a deck, and which of them a test announced. */
export class Violations {
  readonly all: WiretapeError[] = [];
  readonly #expected: WiretapeErrorCode[] = [];
  readonly #open: { error: WiretapeError; key: string; acknowledge: () => void }[] = [];
  readonly #settled = new Set<string>();

  /**
   * @param about what the program asked for: violations of one code about the same thing are one and its repetitions
   * @param acknowledge tells the ledger
   */
  add(error: WiretapeError, about: string, acknowledge: () => void): void {
    this.all.push(error);
    const key = `${error.code}\n${about}`;
    const place = this.#expected.indexOf(error.code);
    if (this.#settled.has(key)) acknowledge();
    else if (place >= 0) {
      this.#expected.splice(place, 1);
      this.#settled.add(key);
      acknowledge();
    } else this.#open.push({ error, key, acknowledge });
  }

  /** Acknowledges one violation, with its repetitions, that has come or will come. */
  expect(code: WiretapeErrorCode): void {
    const first = this.#open.find(({ error }) => error.code === code);
    if (first === undefined) {
      this.#expected.push(code);
      return;
    }
    this.#settled.add(first.key);
    for (const one of this.#open.filter(({ key }) => key === first.key)) {
      one.acknowledge();
      this.#open.splice(this.#open.indexOf(one), 1);
    }
  }

  /** Those that no test announced. */
  get open(): WiretapeError[] {
    return this.#open.map(({ error }) => error);
  }

  /** Announced, and never come. */
  get unmet(): readonly WiretapeErrorCode[] {
    return this.#expected;
  }
}

/** The error for a deck that is used after its end. */
export function finishedError(name: string, what: string): DeckFinished {
  return new DeckFinished(
    `${what} after the deck of ${name} was finished.\n  next      finish the deck when everything that uses it has ended; await what the test starts`,
    { cassette: name },
  );
}
