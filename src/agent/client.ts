import { OptionInvalid } from "../errors.ts";
import { createFilesClient, type FilesClient } from "./files-client.ts";
import type { AgentContract, AgentManifest, PaiThreadHead, ThreadId } from "./protocol.ts";
import { createThread, type Thread } from "./thread.ts";
import { watchHeads } from "./thread-heads.ts";
import type { ClientClock } from "./thread-live.ts";
import type { AgentClientTransport } from "./transport.ts";

/** An agent, as an application uses it. */
export interface AgentClient<T extends AgentContract = AgentContract> {
  /** The thread of this id, the same object each time; it need not exist yet. */
  thread(threadId: ThreadId): Thread<T>;
  /** The heads of all threads. */
  threads(): Promise<readonly PaiThreadHead<T>[]>;
  /** The heads of all threads, again whenever one changes: each yield is the complete list. */
  heads(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<readonly PaiThreadHead<T>[]>;
  readonly files: FilesClient;
  getManifest(): Promise<AgentManifest>;
}

export interface AgentClientOptions {
  /** Time, for the pauses between attempts to watch again; default: the platform's. */
  readonly clock?: ClientClock;
}

/** A client over any transport. It asks for nothing until something is called. */
export function createAgentClient<T extends AgentContract = AgentContract>(
  transport: AgentClientTransport<T>,
  options: AgentClientOptions = {},
): AgentClient<T> {
  for (const key of Object.keys(options)) {
    if (key !== "clock")
      throw new OptionInvalid(`createAgentClient has no option "${key}"; it has clock.`, { option: key });
  }
  const { clock = platformClock } = options;
  const threads = new Map<ThreadId, Thread<T>>();
  return {
    thread(threadId) {
      const known = threads.get(threadId);
      if (known !== undefined) return known;
      const thread = createThread(transport, threadId, clock);
      threads.set(threadId, thread);
      return thread;
    },
    threads: () => transport.listThreads(),
    heads: ({ signal } = {}) =>
      watchHeads(
        transport as unknown as AgentClientTransport,
        signal,
      ) as AsyncIterableIterator<unknown> as AsyncIterableIterator<readonly PaiThreadHead<T>[]>,
    files: createFilesClient(transport),
    getManifest: () => transport.getManifest(),
  };
}

const platformClock: ClientClock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal.addEventListener("abort", abort, { once: true });
    }),
};
