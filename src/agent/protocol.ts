import type { UIMessage, UIMessageChunk } from "ai";

/**
 * The agent protocol: what crosses between a client and a backend. The shapes follow the watch stream protocol's page;
 * where the page leaves a type open it is structural, and every reader keeps the fields that it does not know.
 */

export type ThreadId = string;
export type RunId = string;
export type MessageId = string;
export type QueueItemId = string;
export type ActionId = string;
export type FileId = string;

/** One tool of an agent: what the model passes, what comes back, and the actions on which it can wait. */
export interface ToolContract {
  readonly input: unknown;
  readonly output: unknown;
  /** By name of the action: what the client is shown, and what it submits. */
  readonly suspends?: Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>;
  /** Named data that the tool shows while it runs. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** `false`: the client executes it, through the implicit action `output`. */
  readonly hasExecute?: boolean;
}

/** What an application knows of its agent, as types alone. */
export interface AgentContract {
  /** What a run's messages carry for the client. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly threadMetadata?: Readonly<Record<string, unknown>>;
  readonly tools: Readonly<Record<string, ToolContract>>;
  /** The application's own data parts, by name. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly commands: Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>;
}

/** The contract of an agent about which nothing is known. */
export interface AnyContract extends AgentContract {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tools: Readonly<Record<string, ToolContract>>;
  readonly data: Readonly<Record<string, unknown>>;
  readonly commands: Readonly<Record<string, { readonly input: never; readonly output: unknown }>>;
}

type ToolTypes<T extends AgentContract> = {
  [K in keyof T["tools"] & string]: { input: T["tools"][K]["input"]; output: T["tools"][K]["output"] };
};
type DataTypes<T extends AgentContract> = { [K in keyof T["data"] & string]: T["data"][K] };

/** Facts that the backend states about a message; reserved under `metadata.pai`. */
export interface PaiMessageFacts {
  /** Absent: no run owns the message. */
  readonly runId?: RunId;
  /** Who wrote it. */
  readonly producer: "user" | "trigger" | "model" | "lifecycle" | "standalone";
  /** ISO 8601. */
  readonly createdAt: string;
  readonly [key: string]: unknown;
}

export type PaiMessageMetadata<T extends AgentContract> = Partial<T["metadata"]> & { readonly pai: PaiMessageFacts };

/** A native message as it crosses the wire: reserved `data-pai-*` parts are still in it. */
export type PaiWireUIMessage<T extends AgentContract = AgentContract> = UIMessage<
  PaiMessageMetadata<T>,
  DataTypes<T>,
  ToolTypes<T>
>;
/** A message that the model wrote. */
export type PaiModelWireMessage<T extends AgentContract = AgentContract> = PaiWireUIMessage<T>;
export type PaiUIMessageChunk<T extends AgentContract = AgentContract> = UIMessageChunk<
  PaiMessageMetadata<T>,
  DataTypes<T>
>;

/** `threadInstanceId` fences delayed events of a deleted and recreated thread; `revision` orders within one incarnation. */
export interface ThreadVersion {
  readonly threadInstanceId: string;
  readonly revision: number;
}

export type ThreadStatus = "idle" | "running" | "waiting" | "failed";
export type RunStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "aborted";
export type RunOperation = "send" | "retry" | "regenerate" | "submitAction";

export interface PaiThreadHead<T extends AgentContract = AgentContract> {
  readonly id: ThreadId;
  readonly title: string | null;
  readonly status: ThreadStatus;
  readonly metadata: T["threadMetadata"] extends object
    ? Partial<T["threadMetadata"]>
    : Readonly<Record<string, unknown>>;
  readonly version: ThreadVersion;
  readonly createdAt: string;
  readonly updatedAt: string;
}
export type ThreadHeadDTO<T extends AgentContract = AgentContract> = PaiThreadHead<T>;
export type ThreadHeadChangeReason = "created" | "attributes" | "status" | "deleted" | "activity";

export interface PersistedErrorRecord {
  readonly message: string;
  readonly name?: string;
  readonly code?: string | number;
}

export interface ThreadErrorRecord extends PersistedErrorRecord {
  readonly runId: RunId;
  readonly operation: RunOperation;
  /** The user message whose turn failed. */
  readonly messageId: MessageId;
}

export interface RunStateDTO<T extends AgentContract = AgentContract> {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly status: RunStatus;
  readonly operation: RunOperation;
  readonly initiator: "send" | "trigger";
  readonly metadata: T["metadata"];
  /** The user message that it answers. */
  readonly messageId: MessageId;
  readonly createdAt: string;
  readonly finishedAt?: string;
  readonly error?: ThreadErrorRecord;
}
export type AdmittedRunState<T extends AgentContract = AgentContract> = RunStateDTO<T> & { readonly status: "running" };

/** Something that waits for the client. `name` is `<tool>.<action>`. */
export interface PendingActionRecord<_T extends AgentContract = AgentContract> {
  readonly actionId: ActionId;
  readonly name: string;
  readonly toolName: string;
  /** The suspend that the tool declares; absent for the implicit action `output` of a tool that the client executes. */
  readonly suspendName?: string;
  readonly toolCallId: string;
  readonly messageId: MessageId;
  readonly runId: RunId;
  readonly input: unknown;
  readonly createdAt: string;
}

export interface PaiQueuedItemTransport<T extends AgentContract = AgentContract> {
  readonly queueItemId: QueueItemId;
  readonly runId: RunId;
  readonly message: PaiWireUIMessage<T>;
  readonly createdAt: string;
}
export interface PaiThreadQueueTransport<T extends AgentContract = AgentContract> {
  readonly items: readonly PaiQueuedItemTransport<T>[];
}
export type QueueItemRemovalReason = "admitted" | "recalled" | "cancelled" | "drained";

export interface UsageSummary {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** What the client may do with a thread at the moment. */
export interface ThreadCapabilityView {
  readonly send: boolean;
  readonly retry: boolean;
  readonly regenerate: boolean;
  readonly rename: boolean;
  readonly delete: boolean;
}

export interface PaiThreadTransportState<T extends AgentContract = AgentContract> {
  readonly thread: PaiThreadHead<T>;
  readonly messages: readonly PaiWireUIMessage<T>[];
  readonly runs: readonly RunStateDTO<T>[];
  readonly pending: readonly PendingActionRecord<T>[];
  readonly activeRunId: RunId | null;
  readonly queue: PaiThreadQueueTransport<T>;
  readonly usage: UsageSummary;
  readonly capabilities: ThreadCapabilityView;
  readonly error: ThreadErrorRecord | null;
}

/** `seq` 0: live only, outside the replay stream. Else contiguous from 1 within a generation. */
export interface PaiThreadMessageChunkEvent<T extends AgentContract = AgentContract> {
  readonly type: "generation.message.chunk";
  readonly version: ThreadVersion;
  readonly runId: RunId;
  readonly seq: number;
  readonly messageId: MessageId;
  readonly chunk: PaiUIMessageChunk<T>;
}

export type PaiThreadGenerationControlEvent<T extends AgentContract = AgentContract> =
  | {
      readonly type: "generation.started";
      readonly runId: RunId;
      readonly version: ThreadVersion;
      readonly seq: 0;
      readonly baseMessages: readonly PaiModelWireMessage<T>[];
    }
  | { readonly type: "generation.completed"; readonly runId: RunId; readonly version: ThreadVersion }
  | {
      readonly type: "generation.failed";
      readonly runId: RunId;
      readonly version: ThreadVersion;
      readonly error: ThreadErrorRecord;
    }
  | {
      readonly type: "generation.error";
      readonly runId: RunId;
      readonly version: ThreadVersion;
      readonly seq: number;
      readonly error: PersistedErrorRecord;
    }
  | {
      readonly type: "generation.aborted";
      readonly runId: RunId;
      readonly version: ThreadVersion;
      readonly seq: number;
      readonly reason?: string;
    };

export type PaiThreadGenerationEvent<T extends AgentContract = AgentContract> =
  | PaiThreadMessageChunkEvent<T>
  | PaiThreadGenerationControlEvent<T>;

/** One event of a thread's watch stream. An event of a type that is not listed here is carried as it is, and ignored. */
export type PaiThreadTransportEvent<T extends AgentContract = AgentContract> =
  | { readonly type: "snapshot"; readonly state: PaiThreadTransportState<T> }
  | PaiThreadGenerationEvent<T>
  | { readonly type: "message.appended"; readonly version: ThreadVersion; readonly message: PaiWireUIMessage<T> }
  | { readonly type: "run.admitted"; readonly version: ThreadVersion; readonly run: AdmittedRunState<T> }
  | { readonly type: "run.updated"; readonly version: ThreadVersion; readonly run: RunStateDTO<T> }
  | { readonly type: "thread.head.changed"; readonly reason: ThreadHeadChangeReason; readonly head: PaiThreadHead<T> }
  | { readonly type: "queue-item-added"; readonly version: ThreadVersion; readonly item: PaiQueuedItemTransport<T> }
  | {
      readonly type: "queue-item-removed";
      readonly version: ThreadVersion;
      readonly runId: RunId;
      readonly queueItemId: QueueItemId;
      readonly reason: QueueItemRemovalReason;
    }
  | { readonly type: "state.changed" };

/** One event of the list of threads. */
export type PaiThreadHeadEvent<T extends AgentContract = AgentContract> =
  | { readonly type: "snapshot"; readonly heads: readonly PaiThreadHead<T>[] }
  | { readonly type: "thread.head.changed"; readonly reason: ThreadHeadChangeReason; readonly head: PaiThreadHead<T> }
  | { readonly type: "state.changed" };

/** The reserved part in which a suspension is kept on its message. */
export interface SuspensionData {
  readonly actionId: ActionId;
  readonly toolCallId: string;
  /** The action's name without the tool's. */
  readonly action: string;
  readonly suspendName?: string;
  readonly input: unknown;
  readonly status: "pending" | "submitted";
  readonly output?: unknown;
}
export const SUSPENSION_PART = "data-pai-suspension";

/** The reserved part in which a tool's named data is kept, or shown live. */
export interface ToolDataRecord {
  readonly toolCallId: string;
  readonly name: string;
  readonly data: unknown;
}
export const TOOL_DATA_PART = "data-pai-tool-data";

/** Where a tool runs, and its stable definition where it has one. Kept on parts as `toolMetadata.pai`. */
export type ToolProvenance =
  | { readonly executor: "server"; readonly toolId?: string }
  | { readonly executor: "client"; readonly toolId?: string };

/** What a client may know of an agent: serialisable, nothing of the server. */
export interface AgentManifest {
  readonly name: string;
  readonly tools: Readonly<
    Record<string, ToolProvenance & { readonly suspends?: readonly string[]; readonly data?: readonly string[] }>
  >;
  readonly commands: readonly string[];
  readonly [key: string]: unknown;
}

export interface FileRecord {
  readonly fileId: FileId;
  readonly filename: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
