import type { Clock } from "../engine/clock.ts";
import { platform } from "../engine/platform.ts";
import { OptionInvalid } from "../errors.ts";
import type { ClockPort } from "./ports.ts";

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** Turns of the event loop before the time moves on by itself. */
const PATIENCE = 4;

/**
 * A clock whose time is a number. Seconds: `now()` is the virtual time, `sleep(s)` moves it on by `s` and waits for
 * nothing, `advance(s)` moves it without being a sleep.
 */
export class FakeClock implements ClockPort {
  /** The sleeps so far, in seconds. `advance` is none. */
  readonly sleeps: number[] = [];
  /**
   * The same time for a deck, in milliseconds: a deck that is given the fake takes this one (`{ clock: fake, timing: "recorded" }`). What a deck waits for
   * comes in its order and without a real wait: when nothing else is going on, the time moves on to the earliest.
   */
  readonly deckClock: Clock;
  readonly #sleepers: Sleeper[] = [];
  #now: number;
  #moving = false;

  /** @param start the initial time, in seconds since the epoch */
  constructor(start = 0) {
    if (typeof start !== "number" || !Number.isFinite(start)) {
      throw new OptionInvalid(`FakeClock starts at a number of seconds; got ${String(start)}.`);
    }
    this.#now = start;
    this.deckClock = {
      now: () => this.#now * 1000,
      sleep: (ms, signal) => this.#sleepUntil(this.#now + ms / 1000, signal),
    };
  }

  now(): number {
    return this.#now;
  }

  async sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#move(seconds, "sleep");
    this.sleeps.push(seconds);
  }

  /** Moves the time on: something outside took so long. */
  advance(seconds: number): void {
    this.#move(seconds, "advance");
  }

  #move(seconds: number, what: string): void {
    if (typeof seconds !== "number" || !(seconds >= 0)) {
      throw new OptionInvalid(`FakeClock.${what}() takes a number of seconds from 0; got ${String(seconds)}.`);
    }
    this.#now += seconds;
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= this.#now);
    for (const sleeper of due.sort((a, b) => a.due - b.due)) sleeper.wake();
  }

  #sleepUntil(due: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const remove = (): void => {
        const place = this.#sleepers.indexOf(sleeper);
        if (place >= 0) this.#sleepers.splice(place, 1);
        signal?.removeEventListener("abort", abort);
      };
      const sleeper: Sleeper = {
        due,
        wake: () => {
          remove();
          resolve();
        },
      };
      const abort = (): void => {
        remove();
        reject(signal?.reason);
      };
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", abort, { once: true });
      this.#sleepers.push(sleeper);
      void this.#moveOn();
    });
  }

  // A few turns of the event loop, so that everything that is going to sleep sleeps by then, and what was woken was seen.
  async #moveOn(): Promise<void> {
    if (this.#moving) return;
    this.#moving = true;
    for (;;) {
      for (let i = 0; i < PATIENCE; i++) await new Promise<void>((resolve) => platform.turn(resolve));
      const earliest = Math.min(...this.#sleepers.map(({ due }) => due));
      if (!Number.isFinite(earliest)) break;
      this.#move(Math.max(0, earliest - this.#now), "advance");
    }
    this.#moving = false;
  }
}
