/** Where the items of a closable iterator come from. */
export interface ItemSource<E> {
  /** The next item. It is asked for one at a time, and only when the reader asks. What it rejects with ends the iterator. */
  pull(): Promise<IteratorResult<E, undefined>>;
  /** The reader is gone: it left early, or the signal aborted. Called once, never after the end. */
  close(): void;
}

const DONE = { done: true, value: undefined } as const;

/**
 * An iterator that ends when its reader leaves (`return()`) or the signal aborts, also while an item is awaited. (The
 * `return()` of a generator waits for the item, which may never come.) Nothing is pulled that was not asked for.
 */
export function closableIterator<E>(
  source: ItemSource<E>,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<E, undefined> {
  const waiting: { resolve(result: IteratorResult<E, undefined>): void; reject(error: unknown): void }[] = [];
  let over = false;
  let pulling = false;

  const end = (failure?: { readonly error: unknown }): void => {
    over = true;
    signal?.removeEventListener("abort", leave);
    if (failure !== undefined) waiting.shift()?.reject(failure.error);
    for (const { resolve } of waiting.splice(0)) resolve(DONE);
  };
  const leave = (): void => {
    if (over) return;
    end();
    source.close();
  };
  const pull = (): void => {
    pulling = true;
    source.pull().then(
      (result) => {
        pulling = false;
        if (over) return; // the reader has left, and was not handed this
        if (result.done === true) return end();
        waiting.shift()?.resolve(result);
        if (waiting.length > 0) pull();
      },
      (error: unknown) => {
        pulling = false;
        if (!over) end({ error });
      },
    );
  };
  signal?.addEventListener("abort", leave, { once: true });

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (over) return Promise.resolve(DONE);
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        if (!pulling) pull();
      });
    },
    return() {
      leave();
      return Promise.resolve(DONE);
    },
  };
}
