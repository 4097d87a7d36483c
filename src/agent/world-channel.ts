/** A line of events to one reader: unbounded, in order, ended once. */
export interface Channel<E> {
  push(event: E): void;
  /** What was pushed before is still read. */
  end(): void;
  readonly iterator: AsyncIterator<E>;
}

/**
 * A channel that ends with `signal` (at once: what was not read yet is dropped), with the reader's `return()`, or with
 * `end()`. `onEnd` is called once.
 */
export function createChannel<E>(signal: AbortSignal | undefined, onEnd: () => void): Channel<E> {
  let queue: E[] = [];
  let taken = 0;
  let ended = false;
  const waiting: ((result: IteratorResult<E>) => void)[] = [];
  const done = { done: true, value: undefined } as const;

  const end = (): void => {
    if (ended) return;
    ended = true;
    signal?.removeEventListener("abort", abandon);
    onEnd();
    for (const resolve of waiting.splice(0)) resolve(done);
  };
  const abandon = (): void => {
    queue = [];
    taken = 0;
    end();
  };
  const next = (): E => {
    const event = queue[taken++] as E;
    // Taking from the front of a long array would move it each time.
    if (taken === queue.length) {
      queue = [];
      taken = 0;
    }
    return event;
  };
  if (signal?.aborted) queueMicrotask(abandon);
  else signal?.addEventListener("abort", abandon, { once: true });

  return {
    push(event) {
      if (ended) return;
      const resolve = waiting.shift();
      if (resolve === undefined) queue.push(event);
      else resolve({ done: false, value: event });
    },
    end,
    iterator: {
      next() {
        if (signal?.aborted) abandon();
        if (queue.length > 0) return Promise.resolve({ done: false, value: next() });
        if (ended) return Promise.resolve(done);
        return new Promise((resolve) => waiting.push(resolve));
      },
      return() {
        abandon();
        return Promise.resolve(done);
      },
    },
  };
}
