import { type ActionOwner, actionNameOf, findPendingAction, type PendingActionOf } from "./pending-action.ts";
import type { PaiMessage, ThreadState } from "./project.ts";
import type { AgentContract, PaiThreadHead, RunOperation, ThreadId } from "./protocol.ts";
import { malformedAcceptance } from "./reduce-malformed.ts";
import { requireSupport } from "./require-support.ts";
import { createRunHandle, type RunHandle } from "./run-handle.ts";
import { type ClientClock, createLiveThread } from "./thread-live.ts";
import { watchStates } from "./thread-watch.ts";
import type {
  AcceptedRun,
  AgentClientTransport,
  RegenerateInput,
  RetryInput,
  SendInput,
  ToolDataInput,
} from "./transport.ts";

/** What the user says: a text, or a text with what goes with it. */
export type ThreadInput<T extends AgentContract = AgentContract> = string | Omit<SendInput<T>, "threadId">;

/** The commands of a contract, as functions. */
export type ThreadCommands<T extends AgentContract> = {
  readonly [K in keyof T["commands"] & string]: (
    input: T["commands"][K]["input"],
  ) => Promise<T["commands"][K]["output"]>;
};

/** One conversation with an agent. */
export interface Thread<T extends AgentContract = AgentContract> {
  readonly id: ThreadId;
  /** Says something. The run that answers may have to wait in the thread's queue. */
  send(input: ThreadInput<T>): Promise<RunHandle<T>>;
  /** Generates the failed turn again; default: that of the thread's error. */
  retry(options?: Omit<RetryInput, "threadId">): Promise<RunHandle<T>>;
  /** Writes a model message anew; default: the last. */
  regenerate(options?: Omit<RegenerateInput, "threadId">): Promise<RunHandle<T>>;
  /**
   * The states of the thread, each complete. While the reader is busy only the latest is kept; it is never lost. Ends
   * when the signal aborts, or when the backend closes the watch while nothing is generating.
   */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<ThreadState<T>>;
  /** Reads the state from the backend. */
  refresh(): Promise<ThreadState<T>>;
  /** The state as it is last known; texts of a running generation may trail where nobody watches. */
  getState(): ThreadState<T>;
  /** The action that waits at this part of this message, if one does. */
  getPendingAction<P extends ActionOwner>(
    message: Pick<PaiMessage<T>, "id">,
    part: P,
  ): PendingActionOf<T, P> | undefined;
  readonly commands: ThreadCommands<T>;
  rename(title: string): Promise<PaiThreadHead<T>>;
  delete(): Promise<void>;
  /** Shows or keeps a tool's named data. */
  writeToolData(input: Omit<ToolDataInput, "threadId">): Promise<void>;
}

/** A thread over a transport. Nothing is asked for until something is called. */
export function createThread<T extends AgentContract>(
  transport: AgentClientTransport<T>,
  threadId: ThreadId,
  clock: ClientClock,
): Thread<T> {
  // The reduction reads no application type: inside, a thread is of any contract.
  const live = createLiveThread(transport as unknown as AgentClientTransport, threadId, clock);
  const typed = (state: ThreadState): ThreadState<T> => state as unknown as ThreadState<T>;

  const handle = async (operation: RunOperation, run: AcceptedRun): Promise<RunHandle<T>> => {
    const wrong = malformedAcceptance(run);
    if (wrong !== undefined)
      throw new Error(`The answer to ${operation} of thread "${threadId}" is no accepted run: ${wrong}.`);
    await live.called(run);
    return createRunHandle<T>(live, run);
  };

  return {
    id: threadId,
    async send(input) {
      const message = typeof input === "string" ? { text: input } : input;
      return handle("send", await transport.send({ ...message, threadId } as SendInput<T>));
    },
    async retry(options = {}) {
      return handle("retry", await transport.retry({ ...options, threadId }));
    },
    async regenerate(options = {}) {
      requireSupport(transport, "regeneration", "thread.regenerate");
      return handle("regenerate", await transport.regenerate({ ...options, threadId }));
    },
    watch({ signal } = {}) {
      requireSupport(transport, "watch", "thread.watch");
      return watchStates(live, signal) as AsyncIterableIterator<unknown> as AsyncIterableIterator<ThreadState<T>>;
    },
    refresh: async () => typed(await live.refresh()),
    getState: () => typed(live.peek()),
    getPendingAction<P extends ActionOwner>(message: Pick<PaiMessage<T>, "id">, part: P) {
      const record = findPendingAction(live.facts, message, part);
      if (record === undefined) return undefined;
      return {
        name: actionNameOf(record),
        toolName: record.toolName,
        input: record.input,
        async submit(output: unknown) {
          const submitted = await transport.submitAction({ threadId, actionId: record.actionId, output });
          if (submitted?.run !== undefined) return { run: await handle("submitAction", submitted.run) };
          await live.called();
          return {};
        },
      } as PendingActionOf<T, P>;
    },
    commands: commandsOf(transport, threadId),
    async rename(title) {
      const head = await transport.renameThread({ threadId, title });
      live.headed(head as unknown as PaiThreadHead);
      return head;
    },
    async delete() {
      await transport.deleteThread(threadId);
      await live.called();
    },
    writeToolData: (input) => transport.writeToolData({ ...input, threadId }),
  };
}

function commandsOf<T extends AgentContract>(
  transport: AgentClientTransport<T>,
  threadId: ThreadId,
): ThreadCommands<T> {
  return new Proxy({} as ThreadCommands<T>, {
    get(_, name) {
      // `then`: what is awaited by mistake is no command.
      if (typeof name !== "string" || name === "then") return undefined;
      return async (input: unknown) => {
        requireSupport(transport, "commands", `thread.commands.${name}`);
        return transport.executeCommand({ threadId, name, input });
      };
    },
  });
}
