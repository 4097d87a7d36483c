import type { UIMessage, UIMessageChunk } from "ai";
import { PeerMissing } from "../errors.ts";

/** One message while it is written: the AI SDK's reducer, fed chunk by chunk. */
export interface WorldSession {
  /** Resolves when the chunk is in the message; rejects where the reducer refuses it, and then for good. */
  write(chunk: UIMessageChunk): Promise<void>;
  /** The message as it stands. It goes on changing: copy what you keep. */
  read(): UIMessage;
}

/** Starts from a message as it was stored; a shell for a new one. */
export function openWorldSession(base: UIMessage): WorldSession {
  // The reducer writes into the message that it is given, so no snapshot has to be taken to look at it.
  const message = { ...structuredClone(base), role: "assistant" } as UIMessage;
  let controller: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  let asked = deferred();
  let failure: Error | undefined;
  let begun: Promise<void> | undefined;

  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    asked.reject(failure);
  };
  // Without a queue on either side, the next chunk is pulled when the last one has been reduced.
  const stream = new ReadableStream<UIMessageChunk>(
    {
      pull(source) {
        controller = source;
        asked.resolve();
      },
    },
    { highWaterMark: 0 },
  );
  const begin = async (): Promise<void> => {
    const { readUIMessageStream } = await import("ai").catch((cause: unknown) => {
      throw new PeerMissing(
        "The agent boundary reduces messages by the AI SDK, and `ai` is not installed. Install it: npm install --save-dev ai",
        { package: "ai" },
        { cause },
      );
    });
    const snapshots = readUIMessageStream({ message, stream, onError: fail, terminateOnError: true });
    void discard(snapshots).catch(fail);
  };

  return {
    async write(chunk) {
      await (begun ??= begin());
      await asked.promise;
      if (failure !== undefined) throw failure;
      asked = deferred();
      // The reducer writes into chunks too.
      controller?.enqueue(structuredClone(chunk));
      await asked.promise;
    },
    read: () => message,
  };
}

async function discard(snapshots: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of snapshots);
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function deferred(): Deferred {
  let resolve: Deferred["resolve"] = () => undefined;
  let reject: Deferred["reject"] = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // The stream may fail while nobody writes; whoever writes next is told.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
