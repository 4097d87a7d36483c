import type { MessageSession } from "./message-session.ts";
import type {
  AgentContract,
  MessageId,
  PaiQueuedItemTransport,
  PaiThreadGenerationEvent,
  PaiThreadHead,
  PaiThreadTransportState,
  PaiWireUIMessage,
  PendingActionRecord,
  RunId,
  RunStateDTO,
  ThreadCapabilityView,
  ThreadErrorRecord,
  ThreadId,
  ThreadVersion,
  UsageSummary,
} from "./protocol.ts";

/** A generation that has not been closed: what a late watcher is replayed, and what its messages are rebuilt by. */
export interface Generation<T extends AgentContract = AgentContract> {
  readonly runId: RunId;
  /** `generation.started` and every retained frame after it, as they were published. */
  readonly frames: PaiThreadGenerationEvent<T>[];
  /** One long-lived reducer per message. */
  readonly sessions: Map<MessageId, MessageSession>;
  /** Of the last retained frame. */
  seq: number;
  /** An error or an abort ended the reduction. */
  ended: boolean;
}

/** One thread as it is stored. Values inside are replaced, never changed in place. */
export interface ThreadRecord<T extends AgentContract = AgentContract> {
  head: PaiThreadHead<T>;
  messages: readonly PaiWireUIMessage<T>[];
  runs: readonly RunStateDTO<T>[];
  pending: readonly PendingActionRecord<T>[];
  activeRunId: RunId | null;
  queue: readonly PaiQueuedItemTransport<T>[];
  usage: UsageSummary;
  capabilities: ThreadCapabilityView;
  error: ThreadErrorRecord | null;
  generation: Generation<T> | undefined;
}

const START_OF_TIME = "1970-01-01T00:00:00.000Z";

/** A thread to which nothing has happened: empty, idle, revision 0. */
export function createThreadRecord<T extends AgentContract>(threadId: ThreadId, instance: string): ThreadRecord<T> {
  return {
    head: {
      id: threadId,
      title: null,
      status: "idle",
      metadata: {} as PaiThreadHead<T>["metadata"],
      version: { threadInstanceId: instance, revision: 0 },
      createdAt: START_OF_TIME,
      updatedAt: START_OF_TIME,
    },
    messages: [],
    runs: [],
    pending: [],
    activeRunId: null,
    queue: [],
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    capabilities: { send: true, retry: true, regenerate: true, rename: true, delete: true },
    error: null,
    generation: undefined,
  };
}

/** The thread as a client may see it; a copy that shares nothing with the store. */
export function threadState<T extends AgentContract>(record: ThreadRecord<T>): PaiThreadTransportState<T> {
  const { head, messages, runs, pending, activeRunId, queue, usage, capabilities, error, generation } = record;
  return structuredClone({
    thread: head,
    messages: messages.map((message) => reduced(message, generation)),
    runs,
    pending,
    activeRunId,
    queue: { items: queue },
    usage,
    capabilities,
    error,
  });
}

/** Puts a state in the place of everything that the record held. A generation that it announces starts empty. */
export function loadState<T extends AgentContract>(
  record: ThreadRecord<T>,
  state: PaiThreadTransportState<T>,
  version: ThreadVersion,
): void {
  const { activeRunId } = state;
  record.head = { ...state.thread, version };
  record.messages = state.messages;
  record.runs = state.runs;
  record.pending = state.pending;
  record.activeRunId = activeRunId;
  record.queue = state.queue.items;
  record.usage = state.usage;
  record.capabilities = state.capabilities;
  record.error = state.error;
  record.generation = undefined;
}

/** The messages as they stand, those that the active generation is writing included. */
export function currentMessages<T extends AgentContract>(record: ThreadRecord<T>): readonly PaiWireUIMessage<T>[] {
  return record.messages.map((message) => reduced(message, record.generation));
}

function reduced<T extends AgentContract>(
  message: PaiWireUIMessage<T>,
  generation: Generation<T> | undefined,
): PaiWireUIMessage<T> {
  const session = generation?.sessions.get(message.id);
  return session === undefined ? message : (session.settled as PaiWireUIMessage<T>);
}
