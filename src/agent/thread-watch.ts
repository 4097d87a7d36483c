import type { ThreadState } from "./project.ts";
import type { LiveThread } from "./thread-live.ts";

/**
 * The states of a thread: each complete, the first as soon as something is known. While the reader is busy only the
 * latest is kept, and that one is never lost. Begins with the first `next()`; ends when the signal aborts, with
 * `return()`, or when the backend closes the watch while nothing is generating. Rejects where the watch cannot be kept.
 */
export function watchStates(live: LiveThread, signal: AbortSignal | undefined): AsyncIterableIterator<ThreadState> {
  let release: (() => void) | undefined;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let fresh = false;
  let wake: (() => void) | undefined;

  function begin(): () => void {
    fresh = live.attached;
    signal?.addEventListener("abort", end);
    return live.listen({
      insists: false,
      notify(change) {
        if (change.type === "failed") failure = { error: change.error };
        if (change.type !== "changed") finish();
        fresh ||= change.type === "changed" && live.attached;
        wake?.();
      },
    });
  }
  function finish(): void {
    over = true;
    signal?.removeEventListener("abort", end);
    release?.();
  }
  /** What was not read yet is not wanted any more. */
  function end(): void {
    fresh = false;
    finish();
    wake?.();
  }

  async function next(): Promise<IteratorResult<ThreadState>> {
    if (signal?.aborted) end();
    if (!over) release ??= begin();
    for (;;) {
      if (fresh) {
        fresh = false;
        const state = await live.read();
        if (state !== undefined) return { done: false, value: state };
      } else if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      } else if (over) {
        return { done: true, value: undefined };
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }

  let turn: Promise<unknown> = Promise.resolve();
  return {
    next() {
      const result = turn.then(next);
      turn = result.catch(() => undefined); // the caller of that next() has the error
      return result;
    },
    async return() {
      end();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
