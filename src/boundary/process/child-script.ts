/** One thing that a program does where it can be seen: it writes, or it ends. */
export type ProcessStep =
  | { readonly from: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** By an exit code, or by a signal: then `code` is null. */
  | { readonly exit: { readonly code: number | null; readonly signal: string | null } };

/** A step that was asked for. */
export interface PendingStep {
  /** The step, as soon as it may happen; `undefined`: there is none any more, and the program lives on until it is killed. */
  readonly promise: Promise<ProcessStep | undefined>;
  /** The step is not wanted any more: the program was killed. The promise may stay pending for ever. */
  cancel(): void;
}

/**
 * What a program does, told to a double of the process that would run it. One script is one process.
 *
 * The double calls `opened` once, at once. When that has resolved it hands over what was written to the program so far,
 * and asks for one step at a time: for the next one when the one before was handed to the program under test and there
 * is room for more (a pipe holds 64 KiB that nobody reads). Nothing is asked after an exit.
 */
export interface ProcessScript {
  /**
   * Starts the program. What it throws, `spawn` throws. What it rejects with is the child's `error` event; of a system error
   * a `code` ("ENOENT") is enough, the other fields are filled in.
   */
  opened(): Promise<void>;
  /** Asks for the next step. A rejection is a fault of the script: the child emits it as `error` and ends by `SIGABRT`. */
  next(): PendingStep;
  /**
   * Bytes that were written to the program's standard input, a chunk as it was written, in memory of the script's own.
   * Called synchronously while the program's write runs. What it throws fails the write, and ends the child by `SIGABRT`.
   */
  stdin(bytes: Uint8Array): void;
  /** The standard input was closed, or there never was one (`stdio: "ignore"`). Called once at most. Throws as `stdin`. */
  stdinEnded(): void;
  /**
   * A signal that would end a program reached it, before its end. `true`: the script itself says what follows, and goes on
   * being asked for steps. `false`: the program ends by the signal, in a later turn of the event loop.
   */
  killed(signal: NodeJS.Signals): boolean;
  /**
   * What the program under test has taken out of a piped stream: a chunk, or its text where it set an encoding; `undefined`
   * when it has met the end. Later than the step by what waits in the stream's buffer; not what flows to no listener.
   */
  consumed?(from: "stdout" | "stderr", data: Uint8Array | string | undefined): void;
}
