import type {
  ActionId,
  AgentContract,
  AgentManifest,
  FileId,
  FileRecord,
  MessageId,
  PaiThreadHead,
  PaiThreadHeadEvent,
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  QueueItemId,
  RunId,
  ThreadId,
  ThreadVersion,
} from "./protocol.ts";

/** What the user says. `id`: the message's id where the client made one up. */
export interface SendInput<T extends AgentContract = AgentContract> {
  readonly threadId: ThreadId;
  readonly text: string;
  readonly id?: MessageId;
  /** Files that were uploaded before. */
  readonly fileIds?: readonly FileId[];
  readonly metadata?: Partial<T["metadata"]>;
}

/** A generation that was accepted: it runs, or waits in the thread's queue. */
export interface AcceptedRun {
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly messageId: MessageId;
  readonly status: "running" | "queued";
  readonly queueItemId?: QueueItemId;
  readonly version: ThreadVersion;
}

export interface RetryInput {
  readonly threadId: ThreadId;
  /** The failed run; default: the one of the thread's error. */
  readonly runId?: RunId;
}

export interface RegenerateInput {
  readonly threadId: ThreadId;
  /** The model message to write anew; default: the last. */
  readonly messageId?: MessageId;
}

export interface SubmitActionInput {
  readonly threadId: ThreadId;
  readonly actionId: ActionId;
  readonly output: unknown;
}

/** What a submitted action started: the run that goes on, where one does. */
export interface SubmittedAction {
  readonly run?: AcceptedRun;
}

export interface UploadInput {
  readonly filename: string;
  readonly mediaType: string;
  readonly body: Blob;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ToolDataInput {
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly messageId: MessageId;
  readonly toolCallId: string;
  readonly name: string;
  readonly data: unknown;
  /** The same id replaces what was shown under it. */
  readonly id?: string;
  /** Shown live and not kept. */
  readonly transient?: boolean;
}

/** The optional parts of a transport. */
export interface TransportSupports {
  readonly watch: boolean;
  readonly heads: boolean;
  readonly files: boolean;
  readonly commands: boolean;
  readonly regeneration: boolean;
}

/**
 * The boundary between a client and an agent's backend. Promises reject with an `Error` whose message is for people;
 * watches are async iterables that end when the backend closes them or the signal aborts.
 */
export interface AgentClientTransport<T extends AgentContract = AgentContract> {
  readonly supports: TransportSupports;
  send(input: SendInput<T>): Promise<AcceptedRun>;
  retry(input: RetryInput): Promise<AcceptedRun>;
  regenerate(input: RegenerateInput): Promise<AcceptedRun>;
  submitAction(input: SubmitActionInput): Promise<SubmittedAction>;
  /** Events of one thread; the first is a snapshot unless `includeInitial` is `false`. */
  watchThread(
    threadId: ThreadId,
    options?: { includeInitial?: boolean; signal?: AbortSignal },
  ): AsyncIterable<PaiThreadTransportEvent<T>>;
  /** Events of the list of threads; the first is a snapshot of all heads. */
  watchThreadHeads(options?: { signal?: AbortSignal }): AsyncIterable<PaiThreadHeadEvent<T>>;
  /** A thread that was never written to is an empty one, so that a client may open it before its first message. */
  getThreadState(threadId: ThreadId): Promise<PaiThreadTransportState<T>>;
  listThreads(): Promise<readonly PaiThreadHead<T>[]>;
  getManifest(): Promise<AgentManifest>;
  renameThread(input: { threadId: ThreadId; title: string }): Promise<PaiThreadHead<T>>;
  deleteThread(threadId: ThreadId): Promise<void>;
  uploadFile(input: UploadInput): Promise<FileRecord>;
  readFile(fileId: FileId): Promise<{ file: FileRecord; body: Blob }>;
  /** A URL from which a browser may fetch the file, or `null` where there is none. */
  createFileUrl(fileId: FileId): Promise<string | null>;
  executeCommand(input: { threadId: ThreadId; name: string; input: unknown }): Promise<unknown>;
  writeToolData(input: ToolDataInput): Promise<void>;
}
