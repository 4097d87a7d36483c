import type { ThreadId } from "./protocol.ts";

/** An event that cannot be reduced. It ends nothing: the thread is repaired by a new snapshot. */
export class ReductionFault extends Error {
  override readonly name = "ReductionFault";
}

/**
 * A watch could not be kept: it broke, or had to be repaired, again and again without anything new in between.
 * `faults` says what went wrong each time, oldest first; `cause` is the last error, where one was thrown.
 */
export class AgentWatchFailed extends Error {
  override readonly name = "AgentWatchFailed";
  readonly threadId: ThreadId;
  readonly faults: readonly string[];

  constructor(threadId: ThreadId, faults: readonly string[], options: { cause?: unknown } = {}) {
    super(
      `The watch of thread "${threadId}" was repaired ${faults.length - 1} times in a row without an event that was new, and broke again:\n` +
        `${faults.map((fault) => `  - ${fault}`).join("\n")}\n` +
        "Look at what the backend sends for this thread. A new watch() or wait starts afresh.",
      options,
    );
    this.threadId = threadId;
    this.faults = faults;
  }
}
