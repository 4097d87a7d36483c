import type { Clock } from "./clock.ts";

/**
 * What the engine needs of the platform, and the one place where it touches it. References are captured when the
 * module loads, so that fake timers installed by a test cannot hang a replay.
 */
export interface Platform {
  readonly clock: Clock;
  /** Real milliseconds, never faked: a stall is about the program, not about the recording. */
  now(): number;
  /** Runs a callback in a later turn of the event loop. */
  turn(run: () => void): void;
  /** Runs a callback when everything that waits for no turn of the event loop (promises) has run; where the platform cannot tell, in a later turn. */
  settle(run: () => void): void;
  /** A real timer, in milliseconds; the returned function cancels it. */
  timer(ms: number, run: () => void): () => void;
  /** The wall clock as an ISO 8601 text. */
  date(): string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tells a person something that is no error. */
  warn(message: string): void;
  /** Runs when the process is about to exit; `fail` turns its exit code to 1 and prints. Never called where there is no such moment. */
  onExit(run: (fail: (message: string) => void) => void): void;
}

const { setTimeout, clearTimeout, performance, console, Date: RealDate } = globalThis;
const setImmediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;
const process = (globalThis as { process?: typeof globalThis.process }).process;
const nextTick = process?.nextTick?.bind(process);
const now = performance.now.bind(performance);

function messageChannelTurn(): (run: () => void) => void {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (run) => {
    waiting.push(run);
    port2.postMessage(null);
  };
}

const realClock: Clock = {
  now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        clearTimeout(handle);
        reject(signal?.reason);
      };
      const handle = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    }),
};

const turn: Platform["turn"] = setImmediate === undefined ? messageChannelTurn() : (run) => void setImmediate(run);

/** The platform that runs this code: Node, or anything with timers and message channels. */
export const platform: Platform = {
  clock: realClock,
  now,
  turn,
  settle: nextTick === undefined ? turn : (run) => nextTick(run),
  timer: (ms, run) => {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
  date: () => new RealDate().toISOString(),
  environment: process?.env ?? {},
  warn: (message) => {
    if (process?.emitWarning) process.emitWarning(message, "WiretapeWarning");
    else console.warn(message);
  },
  onExit: (run) => {
    process?.on?.("exit", () =>
      run((message) => {
        process.exitCode = 1;
        console.error(message);
      }),
    );
  },
};
