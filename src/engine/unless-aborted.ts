import type { Pending } from "./deliveries.ts";
import type { Play } from "./play.ts";

/**
 * Waits for a delivery, unless the program aborts: then the delivery is taken back and the signal's reason thrown.
 * `undefined` in place of a delivery means that it may be handed over now.
 */
export async function unlessAborted(
  pending: Pending | undefined,
  signal: AbortSignal | undefined,
  aborted?: () => void,
): Promise<void> {
  if (pending === undefined) return;
  if (signal === undefined) return pending.promise;
  let abort!: () => void;
  const gaveUp = new Promise<never>((_, reject) => {
    abort = () => {
      pending.cancel();
      aborted?.();
      reject(signal.reason);
    };
  });
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([pending.promise, gaveUp]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Waits until the program gives up, as it did when it was recorded; without a signal, for ever. A signal may come from
 * a timer that keeps no process alive (`AbortSignal.timeout`), so the wait does, as the connection did.
 */
export async function untilAborted(signal: AbortSignal | undefined, play: Pick<Play, "linger">): Promise<never> {
  const never = new Promise<never>(() => undefined);
  const endWait = signal === undefined ? undefined : play.linger();
  try {
    await unlessAborted({ promise: never, cancel: () => undefined }, signal);
  } finally {
    endWait?.();
  }
  return never;
}
