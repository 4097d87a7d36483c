import { keepEventText } from "../../../src/agent/sse-events.ts";
import type { Event, Transport } from "./agent-session.ts";

/** A transport by hand: what a test does not give fails when it is called. */
export function scriptedAgent(parts: Partial<Transport> = {}): Transport {
  const known: Partial<Transport> = {
    supports: { watch: true, heads: true, files: true, commands: true, regeneration: true },
    ...parts,
  };
  return new Proxy(known as Transport, {
    get(target, name) {
      if (Reflect.has(target, name)) return Reflect.get(target, name);
      throw new Error(`the test's transport has no ${String(name)}`);
    },
  });
}

/** An event as a stream gave it: with its text. */
export const event = (text: string): Event => keepEventText(JSON.parse(text) as Event, text);

/** A watch that a test feeds: `pulled` counts how often the reader asked. */
export function fedWatch() {
  const waiting: { resolve(step: IteratorResult<Event>): void; reject(error: unknown): void }[] = [];
  const steps: (IteratorResult<Event> | { error: unknown })[] = [];
  const watch = { pulled: 0, returned: 0, signal: undefined as AbortSignal | undefined };
  const flow = (): void => {
    while (waiting.length > 0 && steps.length > 0) {
      const step = steps.shift() as (typeof steps)[number];
      const { resolve, reject } = waiting.shift() as (typeof waiting)[number];
      if ("error" in step) reject(step.error);
      else resolve(step);
    }
  };
  const put = (step: (typeof steps)[number]): void => {
    steps.push(step);
    flow();
  };
  const iterable: AsyncIterable<Event> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        watch.pulled++;
        return new Promise((resolve, reject) => {
          waiting.push({ resolve, reject });
          flow();
        });
      },
      return() {
        watch.returned++;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  return Object.assign(watch, {
    watchThread: ((_, options) => {
      watch.signal = options?.signal;
      return iterable;
    }) as Transport["watchThread"],
    give: (text: string) => put({ done: false, value: event(text) }),
    end: () => put({ done: true, value: undefined }),
    fail: (error: unknown) => put({ error }),
  });
}
