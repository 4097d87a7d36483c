/** What React's `useSyncExternalStore` reads. The snapshot is the same object until something has changed. */
export interface WatchedStore<S> {
  subscribe(onChange: () => void): () => void;
  snapshot(): WatchedSnapshot<S>;
  /** Opens the watch again where the backend has closed it and somebody still subscribes. */
  revive(): void;
}

export interface WatchedSnapshot<S> {
  readonly value: S;
  /** Why the watch ended, where it failed. Forgotten with the last subscriber; the next one opens it again. */
  readonly failure?: { readonly error: unknown };
}

/**
 * The latest value of a watch. The watch is open while there is a subscriber, one for all of them, and the store keeps
 * no state of its own beyond what the watch yielded last.
 */
export function watchedStore<S>(initial: S, watch: (signal: AbortSignal) => AsyncIterable<S>): WatchedStore<S> {
  let current: WatchedSnapshot<S> = { value: initial };
  let open: AbortController | undefined;
  const listeners = new Set<() => void>();
  const publish = (next: WatchedSnapshot<S>): void => {
    current = next;
    for (const listener of [...listeners]) listener();
  };

  const read = async (control: AbortController): Promise<void> => {
    try {
      for await (const value of watch(control.signal)) {
        if (control.signal.aborted) return;
        publish({ value });
      }
    } catch (error) {
      // A watch that nobody subscribes to any more has nobody to tell.
      if (!control.signal.aborted) publish({ value: current.value, failure: { error } });
    }
    if (open === control) open = undefined;
  };
  // A component that renders throws a failure before it can subscribe: what its boundary was told must not meet it again.
  const forgive = (): void => {
    if (current.failure !== undefined) current = { value: current.value };
  };
  const revive = (): void => {
    if (open !== undefined || listeners.size === 0) return;
    forgive();
    open = new AbortController();
    void read(open);
  };

  return {
    subscribe(onChange) {
      // One function may subscribe twice: each subscription ends by itself.
      const listener = (): void => onChange();
      listeners.add(listener);
      revive();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        open?.abort();
        open = undefined;
        forgive();
      };
    },
    snapshot: () => current,
    revive,
  };
}
