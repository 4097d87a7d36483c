import { isWiretapeError } from "../errors.ts";
import { errorFrom } from "./http-error.ts";
import { eventStream, type HttpAnswer } from "./http-request.ts";
import { createSseReader, readEvent, type SseMessage } from "./sse-events.ts";

/** Something that a watch stream repaired, or could not. */
export interface AgentTransportWarning {
  readonly code: "malformed-event" | "torn-event";
  readonly message: string;
  /** The `data:` text in question, where there is one. */
  readonly text?: string;
}

export interface WatchSource {
  /** Makes the request; called once a watch, at its first `next()`. */
  open(signal: AbortSignal): Promise<HttpAnswer>;
  readonly signal: AbortSignal | undefined;
  warn(warning: AgentTransportWarning): void;
}

/**
 * The events of a stream. Each iteration is a connection of its own, made at the first `next()`. It ends when the server
 * ends it, the signal aborts or `return()` is called; the last two close the connection at once, also while a
 * `next()` waits. Nothing is read that was not asked for, except the rest of a chunk.
 */
export function watchStream<E extends { readonly type: string }>(source: WatchSource): AsyncIterable<E> {
  return { [Symbol.asyncIterator]: () => openWatch<E>(source) };
}

interface Waiting<E> {
  resolve(result: IteratorResult<E, undefined>): void;
  reject(error: unknown): void;
}

// Not a generator: the return() of one waits until a pending next() has its event, and that event may never come.
function openWatch<E extends { readonly type: string }>(source: WatchSource): AsyncIterator<E, undefined, undefined> {
  const closing = new AbortController();
  const sse = createSseReader();
  const waiting: Waiting<E>[] = [];
  let messages: readonly SseMessage[] = [];
  let taken = 0;
  let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let request = "";
  let state: "new" | "open" | "over" = "new";
  let pumping = false;

  function end(failure?: { readonly error: unknown }): void {
    if (state === "over") return;
    state = "over";
    source.signal?.removeEventListener("abort", stop);
    closing.abort();
    // A fetch that does not know signals is closed here; an error of a stream that nobody reads any more says nothing.
    body?.cancel().catch(() => undefined);
    if (failure !== undefined) waiting.shift()?.reject(failure.error);
    for (const next of waiting.splice(0)) next.resolve({ done: true, value: undefined });
  }
  const stop = (): void => end();

  /** Gets the next chunk; `false` at the end. */
  async function fill(): Promise<boolean> {
    if (body === undefined) {
      const answer = await source.open(closing.signal);
      const stream = await eventStream(answer);
      request = answer.request;
      body = stream.getReader();
      if (state === "over") body.cancel().catch(() => undefined); // closed before there was anything to cancel
    }
    const chunk = await readChunk(body, request);
    if (chunk === undefined) {
      if (sse.torn && state !== "over")
        source.warn({ code: "torn-event", message: `The stream of ${request} ended in the middle of an event.` });
      return false;
    }
    messages = sse.push(chunk);
    taken = 0;
    return true;
  }

  function take(message: SseMessage): E {
    if (message.name === "error") {
      const error = errorFrom(jsonOf(message.data), 200);
      if (error !== undefined) throw error;
    }
    const read = readEvent<E>(message);
    if ("event" in read) return read.event;
    const text = message.data;
    const told = `An event of ${request} was malformed: ${read.fault}. It stands as state.changed, so that the thread is read anew.`;
    source.warn({ code: "malformed-event", message: told, text });
    return { type: "state.changed" } as E;
  }

  async function pump(): Promise<void> {
    pumping = true;
    try {
      while (waiting.length > 0) {
        const message = messages[taken];
        if (message !== undefined) {
          taken++;
          const value = take(message);
          waiting.shift()?.resolve({ done: false, value });
        } else if (!(await fill())) end();
      }
    } catch (error) {
      end({ error });
    }
    pumping = false;
  }

  return {
    next() {
      if (state === "new") {
        state = "open";
        if (source.signal?.aborted) end();
        else source.signal?.addEventListener("abort", stop, { once: true });
      }
      if (state === "over") return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        if (!pumping) void pump();
      });
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

async function readChunk(
  body: ReadableStreamDefaultReader<Uint8Array>,
  request: string,
): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await body.read();
    return done ? undefined : value;
  } catch (error) {
    const cause = (error as { cause?: unknown } | null)?.cause;
    if (isWiretapeError(error)) throw error;
    const why = cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
    throw new Error(`The stream of ${request} broke off: ${why}. A new watch begins with a snapshot.`, {
      cause: error,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // then it is no error of ours, but a malformed event
  }
}
