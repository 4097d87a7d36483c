import { TapedSocket } from "./taped-socket.ts";

type Listener = (...given: never[]) => void;

interface Entry {
  readonly listener: Listener;
  readonly once: boolean;
}

/**
 * A taped socket with the other way to listen as well, that of the package `ws`: `on("message", (data, isBinary) => …)`,
 * `once`, `off`, with `Buffer`s where the platform has them. Its own pings are not on tape.
 */
export class EmittingSocket extends TapedSocket {
  readonly #entries = new Map<string, Entry[]>();

  on(type: string, listener: Listener): this {
    return this.#add(type, { listener, once: false });
  }
  addListener(type: string, listener: Listener): this {
    return this.#add(type, { listener, once: false });
  }
  once(type: string, listener: Listener): this {
    return this.#add(type, { listener, once: true });
  }
  off(type: string, listener: Listener): this {
    const entries = this.#entries.get(type) ?? [];
    const place = entries.findLastIndex((entry) => entry.listener === listener);
    if (place >= 0) this.#entries.set(type, entries.toSpliced(place, 1));
    return this;
  }
  removeListener(type: string, listener: Listener): this {
    return this.off(type, listener);
  }
  removeAllListeners(type?: string): this {
    if (type === undefined) this.#entries.clear();
    else this.#entries.delete(type);
    return this;
  }
  listenerCount(type: string): number {
    return this.#entries.get(type)?.length ?? 0;
  }

  protected override heard(type: string, ...given: unknown[]): void {
    for (const { listener, once } of this.#entries.get(type) ?? []) {
      if (once) this.off(type, listener);
      const values = given.map((value) =>
        value instanceof Uint8Array && typeof Buffer !== "undefined" ? Buffer.from(value) : value,
      );
      try {
        (listener as (...values: unknown[]) => void).apply(this, values);
      } catch (error) {
        // A listener's failure is the program's, and uncaught as with a real socket: not a failure of the connection.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #add(type: string, entry: Entry): this {
    this.#entries.set(type, [...(this.#entries.get(type) ?? []), entry]);
    return this;
  }
}
