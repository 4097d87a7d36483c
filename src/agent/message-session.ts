import type { UIMessage, UIMessageChunk } from "ai";
import { PeerMissing } from "../errors.ts";
import { ReductionFault } from "./reduce-fault.ts";

/** One message while it is written: the AI SDK's reducer, one long-lived stream of it. */
export interface MessageSession {
  /** Takes a chunk. Costs the same however much was taken before; nothing is reduced until somebody wants to see it. */
  push(chunk: UIMessageChunk): void;
  /** The message as it was when it was last settled. */
  readonly settled: UIMessage;
  /**
   * The message with every chunk that was pushed before this call. Rejects with a `ReductionFault` where the reducer
   * refused one; the session is of no use after that.
   */
  settle(): Promise<UIMessage>;
  close(): void;
}

/**
 * The reducer emits one copy of the message for each chunk that it writes, and a reader is one asynchronous step behind.
 * A reserved part that ends each batch says which copy is the one that has all of it.
 */
const MARK = "data-pai-settled";

type Reducer = Pick<typeof import("ai"), "readUIMessageStream">;
let reducer: Promise<Reducer> | undefined;

/**
 * Loads the AI SDK, so that the first message need not wait for it. Rejects with `PeerMissing` where there is none, and
 * then looks again the next time.
 */
export function loadReducer(): Promise<Reducer> {
  // Kept: a bundler's or a test runner's import() takes its time even for what it has loaded already.
  reducer ??= import("ai").catch((cause: unknown) => {
    reducer = undefined;
    throw new PeerMissing(
      "The agent client reduces messages by the AI SDK, and `ai` is not installed. Install it: npm install ai",
      { package: "ai" },
      { cause },
    );
  });
  return reducer;
}

/** Continues a message of the assistant; a shell without parts is a new one. */
export function createMessageSession(initial: UIMessage): MessageSession {
  let settled = initial;
  let pending: UIMessageChunk[] = [];
  /** Where the deltas of one id are gathered, until something else than a delta comes. */
  let gathering = new Map<string, Delta>();
  let last: Promise<UIMessage> | undefined;
  let source: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  let copies: AsyncIterator<UIMessage> | undefined;
  let batches = 0;
  let closed = false;

  async function reduce(batch: readonly UIMessageChunk[]): Promise<UIMessage> {
    copies ??= await open();
    const mark = ++batches;
    for (const chunk of batch) source?.enqueue(chunk);
    source?.enqueue({ type: MARK, id: MARK, data: mark });
    for (;;) {
      const next = await copies.next().catch((cause: unknown) => {
        throw new ReductionFault(`the AI SDK refused a chunk of message ${initial.id}: ${messageOf(cause)}`, { cause });
      });
      if (next.done === true) throw new ReductionFault(`the AI SDK stopped reading message ${initial.id}`);
      if (next.value.parts.some((part) => part.type === MARK && (part as { data?: unknown }).data === mark)) {
        settled = { ...next.value, parts: next.value.parts.filter((part) => part.type !== MARK) };
        return settled;
      }
    }
  }

  async function open(): Promise<AsyncIterator<UIMessage>> {
    const { readUIMessageStream } = await loadReducer();
    const stream = new ReadableStream<UIMessageChunk>({
      start(controller) {
        source = controller;
      },
    });
    // Without both, the reducer ends silently at the first chunk that it cannot take.
    const copy = readUIMessageStream({
      message: structuredClone(initial),
      stream,
      onError: ignore,
      terminateOnError: true,
    });
    return copy[Symbol.asyncIterator]();
  }

  return {
    push(chunk) {
      const key = deltaKey(chunk);
      if (key === undefined) {
        gathering = new Map();
        // `error` says nothing about the message, and the SDK would end the whole reduction for it.
        if (chunk.type !== "error") pending.push(structuredClone(chunk));
        return;
      }
      const gathered = gathering.get(key);
      if (gathered !== undefined) {
        join(gathered, chunk as Delta);
        return;
      }
      const own = { ...chunk } as Delta;
      gathering.set(key, own);
      pending.push(own as UIMessageChunk);
    },
    get settled() {
      return settled;
    },
    settle() {
      if (pending.length > 0) {
        const batch = pending;
        pending = [];
        gathering = new Map();
        last = (last ?? Promise.resolve(settled)).then(() => reduce(batch));
        // Somebody else may be the one who hears of it.
        last.catch(ignore);
      }
      return last ?? Promise.resolve(settled);
    },
    close() {
      if (closed) return;
      closed = true;
      const end = (): void => {
        copies?.return?.().catch(ignore);
      };
      if (last === undefined) return;
      last.then(end, end);
    },
  };
}

interface Delta {
  readonly type: string;
  delta?: string;
  inputTextDelta?: string;
  providerMetadata?: unknown;
}

/**
 * Deltas of one id are joined across those of others: each writes to its own part alone, so only their order within the
 * id counts. Anything that is no delta may read or end a part, and ends the gathering.
 */
function deltaKey(chunk: UIMessageChunk): string | undefined {
  switch (chunk.type) {
    case "text-delta":
    case "reasoning-delta":
      return typeof chunk.delta === "string" ? `${chunk.type}:${chunk.id}` : undefined;
    case "tool-input-delta":
      return typeof chunk.inputTextDelta === "string" ? `${chunk.type}:${chunk.toolCallId}` : undefined;
    default:
      return undefined;
  }
}

function join(gathered: Delta, chunk: Delta): void {
  if (chunk.type === "tool-input-delta") {
    gathered.inputTextDelta = `${gathered.inputTextDelta}${chunk.inputTextDelta}`;
    return;
  }
  gathered.delta = `${gathered.delta}${chunk.delta}`;
  // As the SDK does: the latest that says something.
  if (chunk.providerMetadata !== undefined && chunk.providerMetadata !== null)
    gathered.providerMetadata = chunk.providerMetadata;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the stream says on its way is said again by the copies, which are read to their end. */
function ignore(): undefined {
  return undefined;
}
