/** A watch that is read as it comes, and asked about afterwards. */
export interface Watcher<E> {
  /** Everything that has arrived. */
  readonly events: readonly E[];
  /** The first event that matches, now or later; rejects when the watch ends, or stays silent for too long, before. */
  until(what: string, match: (event: E) => boolean): Promise<E>;
  /** Settles when the watch has ended; rejects with its error. */
  ended(): Promise<void>;
  /** Aborts the watch and settles when it has ended. */
  close(): Promise<void>;
}

/** Milliseconds for which a scenario waits for one thing. */
const PATIENCE = 5_000;

function seen(events: readonly unknown[]): string {
  if (events.length === 0) return "no event has arrived";
  return `arrived: ${events.map((event) => (event as { type: string }).type).join(", ")}`;
}

/** Waits for a promise, but not for ever: a silent backend is a failure with a name. */
export function patiently<T>(promise: Promise<T>, what: () => string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Waited ${PATIENCE} ms for ${what()}.`)), PATIENCE);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Opens a watch and reads it to its end in the background. */
export function openWatcher<E>(open: (signal: AbortSignal) => AsyncIterable<E>): Watcher<E> {
  const events: E[] = [];
  const asked = new Set<() => void>();
  const control = new AbortController();
  let over = false;
  const wake = (): void => {
    for (const check of [...asked]) check();
  };
  const reading = (async () => {
    try {
      for await (const event of open(control.signal)) {
        events.push(event);
        wake();
      }
    } finally {
      over = true;
    }
  })();
  // Whoever waits learns of the failure; when nobody does, `ended` and `close` still report it.
  reading.then(wake, wake);

  const until = (what: string, match: (event: E) => boolean): Promise<E> =>
    patiently(
      new Promise<E>((resolve, reject) => {
        let looked = 0;
        const check = (): void => {
          while (looked < events.length) {
            const event = events[looked++] as E;
            if (!match(event)) continue;
            asked.delete(check);
            resolve(event);
            return;
          }
          if (!over) return;
          asked.delete(check);
          reading.then(() => reject(new Error(`The watch ended before ${what}; ${seen(events)}.`)), reject);
        };
        asked.add(check);
        check();
      }),
      () => `${what}; ${seen(events)}`,
    );

  const ended = (): Promise<void> => patiently(reading, () => `the end of a watch; ${seen(events)}`);
  return {
    events,
    until,
    ended,
    close: () => {
      control.abort();
      return ended();
    },
  };
}
