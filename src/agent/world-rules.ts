import type { UIMessage, UIMessageChunk } from "ai";
import { createMessageSession, type MessageSession } from "./message-session.ts";
import type {
  AgentContract,
  PaiThreadGenerationEvent,
  PaiThreadMessageChunkEvent,
  PaiThreadTransportEvent,
  PaiWireUIMessage,
  RunId,
  RunStateDTO,
  RunStatus,
  ThreadVersion,
} from "./protocol.ts";
import { pendingOf } from "./world-pending.ts";
import { currentMessages, loadState, type ThreadRecord } from "./world-thread.ts";

type Event<T extends AgentContract> = PaiThreadTransportEvent<T>;

/**
 * Applies one event to a thread by the rules of the watch stream protocol. Returns whether the thread took it: one of
 * another incarnation, of an older revision, out of sequence, of a run that is not active, or that cannot be reduced
 * leaves the thread as it was. Only a message chunk is applied asynchronously.
 */
export function applyEvent<T extends AgentContract>(
  record: ThreadRecord<T>,
  event: Event<T>,
): boolean | Promise<boolean> {
  switch (event.type) {
    case "snapshot":
      return applySnapshot(record, event);
    case "generation.message.chunk":
    case "generation.started":
    case "generation.completed":
    case "generation.failed":
    case "generation.error":
    case "generation.aborted":
      return sameIncarnation(record, event.version) && applyGeneration(record, event);
    case "message.appended":
      if (!advance(record, event.version)) return false;
      // A message that the active generation writes is rebuilt from its chunks; a copy beside them would double it.
      if (record.generation?.sessions.has(event.message.id)) return false;
      putMessage(record, event.message);
      return true;
    case "run.admitted":
      if (!advance(record, event.version)) return false;
      putRun(record, event.run);
      record.activeRunId = event.run.runId;
      record.error = null;
      if (record.generation?.runId !== event.run.runId) closeGeneration(record);
      setStatus(record);
      return true;
    case "run.updated":
      if (!advance(record, event.version)) return false;
      putRun(record, event.run);
      if (event.run.status === "running") record.activeRunId = event.run.runId;
      else release(record, event.run.runId);
      setStatus(record);
      return true;
    case "thread.head.changed":
      if (!sameIncarnation(record, event.head.version) || isOlder(record, event.head.version)) return false;
      record.head = structuredClone(event.head);
      return true;
    case "queue-item-added":
      if (!advance(record, event.version)) return false;
      record.queue = [
        ...record.queue.filter(({ queueItemId }) => queueItemId !== event.item.queueItemId),
        structuredClone(event.item),
      ];
      return true;
    case "queue-item-removed":
      if (!advance(record, event.version)) return false;
      record.queue = record.queue.filter(({ queueItemId }) => queueItemId !== event.queueItemId);
      return true;
    default:
      // `state.changed` says nothing itself; a type from the future is carried and not understood.
      return true;
  }
}

function applySnapshot<T extends AgentContract>(
  record: ThreadRecord<T>,
  { state }: Extract<Event<T>, { type: "snapshot" }>,
): boolean {
  const { version } = state.thread;
  if (sameIncarnation(record, version) && isOlder(record, version)) return false;
  const { generation } = record;
  const goesOn = sameIncarnation(record, version) && generation?.runId === state.activeRunId;
  loadState(record, structuredClone(state), version);
  // What the active generation retained is still true: it is the stream that is authoritative for its messages.
  if (goesOn) record.generation = generation;
  return true;
}

function applyGeneration<T extends AgentContract>(
  record: ThreadRecord<T>,
  event: PaiThreadGenerationEvent<T>,
): boolean | Promise<boolean> {
  const { generation } = record;
  switch (event.type) {
    case "generation.started":
      // The replay that another watcher was given begins with what is already here.
      if (generation?.runId === event.runId) return false;
      if (record.activeRunId !== event.runId) return false;
      restoreBase(record, event);
      touch(record, event.version);
      return true;
    case "generation.message.chunk":
      return applyChunk(record, event);
    case "generation.error":
    case "generation.aborted":
      if (generation?.runId !== event.runId || generation.ended || event.seq !== generation.seq + 1) return false;
      generation.frames.push(event);
      generation.seq = event.seq;
      generation.ended = true;
      touch(record, event.version);
      return true;
    case "generation.completed":
    case "generation.failed": {
      if (record.activeRunId !== event.runId) return false;
      const failed = event.type === "generation.failed";
      closeGeneration(record);
      const waits = record.pending.some(({ runId }) => runId === event.runId);
      settleRun(record, event.runId, failed ? "failed" : waits ? "waiting" : "completed");
      if (failed) record.error = structuredClone(event.error);
      touch(record, event.version);
      setStatus(record);
      return true;
    }
  }
}

function restoreBase<T extends AgentContract>(
  record: ThreadRecord<T>,
  event: Extract<PaiThreadGenerationEvent<T>, { type: "generation.started" }>,
): void {
  const base = new Map(event.baseMessages.map((message) => [message.id, structuredClone(message)]));
  const kept = record.messages.filter((message) => base.has(message.id) || !isModelMessageOf(message, event.runId));
  record.messages = kept.map((message) => base.get(message.id) ?? message);
  for (const message of base.values()) {
    if (!kept.some(({ id }) => id === message.id)) record.messages = [...record.messages, message];
  }
  record.generation = { runId: event.runId, frames: [event], sessions: new Map(), seq: 0, ended: false };
  record.pending = pendingOf(record.messages, record.pending);
}

function applyChunk<T extends AgentContract>(
  record: ThreadRecord<T>,
  event: PaiThreadMessageChunkEvent<T>,
): boolean | Promise<boolean> {
  const { generation } = record;
  if (generation?.runId !== event.runId) return false;
  // Sequence 0 is live only: shown, and not kept.
  if (event.seq === 0) return true;
  if (generation.ended || event.seq !== generation.seq + 1) return false;
  let session = generation.sessions.get(event.messageId);
  if (session === undefined) {
    const shell = record.messages.find(({ id }) => id === event.messageId) ?? shellOf(event);
    if (shell === undefined || !isModelMessageOf(shell, event.runId)) return false;
    session = createMessageSession(shell as UIMessage);
  }
  const opened = session;
  opened.push(event.chunk as UIMessageChunk);
  return opened.settle().then(
    (message) => {
      if (record.generation !== generation) return false;
      generation.sessions.set(event.messageId, opened);
      generation.frames.push(event);
      generation.seq = event.seq;
      if (!record.messages.some(({ id }) => id === event.messageId)) {
        record.messages = [...record.messages, message as PaiWireUIMessage<T>];
      }
      if (event.chunk.type.startsWith("data-pai-")) record.pending = pendingOf(currentMessages(record), record.pending);
      touch(record, event.version);
      return true;
    },
    async () => {
      // The reducer refused the chunk and is of no more use: the message is what the retained frames say.
      await rebuild(record, event.messageId);
      return false;
    },
  );
}

async function rebuild<T extends AgentContract>(record: ThreadRecord<T>, messageId: string): Promise<void> {
  const { generation } = record;
  if (!generation?.sessions.delete(messageId)) return;
  const [started, ...frames] = generation.frames;
  const base = started?.type === "generation.started" ? started.baseMessages : [];
  let session: MessageSession | undefined;
  for (const frame of frames) {
    if (frame.type !== "generation.message.chunk" || frame.messageId !== messageId) continue;
    session ??= createMessageSession((base.find(({ id }) => id === messageId) ?? shellOf(frame)) as UIMessage);
    session.push(frame.chunk as UIMessageChunk);
  }
  if (session === undefined) return;
  await session.settle();
  generation.sessions.set(messageId, session);
}

/** The shell of a new message; only the chunk that starts it carries its trusted facts. */
function shellOf<T extends AgentContract>({
  messageId,
  chunk,
}: PaiThreadMessageChunkEvent<T>): PaiWireUIMessage<T> | undefined {
  const start = chunk as { type: string; messageId?: string; messageMetadata?: PaiWireUIMessage<T>["metadata"] };
  if (start.type !== "start" || start.messageId !== messageId || start.messageMetadata === undefined) return undefined;
  return { id: messageId, role: "assistant", metadata: start.messageMetadata, parts: [] };
}

function isModelMessageOf<T extends AgentContract>(message: PaiWireUIMessage<T>, runId: RunId): boolean {
  return message.metadata?.pai.producer === "model" && message.metadata.pai.runId === runId;
}

function closeGeneration<T extends AgentContract>(record: ThreadRecord<T>): void {
  if (record.generation === undefined) return;
  record.messages = currentMessages(record);
  for (const session of record.generation.sessions.values()) session.close();
  record.generation = undefined;
}

function release<T extends AgentContract>(record: ThreadRecord<T>, runId: RunId): void {
  if (record.activeRunId === runId) record.activeRunId = null;
  if (record.generation?.runId === runId) closeGeneration(record);
}

function settleRun<T extends AgentContract>(record: ThreadRecord<T>, runId: RunId, status: RunStatus): void {
  record.activeRunId = null;
  record.runs = record.runs.map((run) =>
    run.runId === runId && (run.status === "running" || run.status === "queued") ? { ...run, status } : run,
  );
}

function putMessage<T extends AgentContract>(record: ThreadRecord<T>, message: PaiWireUIMessage<T>): void {
  const own = structuredClone(message);
  const known = record.messages.some(({ id }) => id === own.id);
  record.messages = known
    ? record.messages.map((each) => (each.id === own.id ? own : each))
    : [...record.messages, own];
  record.pending = pendingOf(currentMessages(record), record.pending);
}

function putRun<T extends AgentContract>(record: ThreadRecord<T>, run: RunStateDTO<T>): void {
  const own = structuredClone(run);
  const known = record.runs.some(({ runId }) => runId === own.runId);
  record.runs = known ? record.runs.map((each) => (each.runId === own.runId ? own : each)) : [...record.runs, own];
}

/** What the thread's status is where nobody has said it: the head that a backend sends afterwards wins. */
function setStatus<T extends AgentContract>(record: ThreadRecord<T>): void {
  const status =
    record.activeRunId !== null
      ? "running"
      : record.error !== null
        ? "failed"
        : record.pending.length > 0
          ? "waiting"
          : "idle";
  if (record.head.status !== status) record.head = { ...record.head, status };
}

function sameIncarnation<T extends AgentContract>(record: ThreadRecord<T>, version: ThreadVersion): boolean {
  return record.head.version.threadInstanceId === version.threadInstanceId;
}

function isOlder<T extends AgentContract>(record: ThreadRecord<T>, version: ThreadVersion): boolean {
  return version.revision < record.head.version.revision;
}

function advance<T extends AgentContract>(record: ThreadRecord<T>, version: ThreadVersion): boolean {
  if (!sameIncarnation(record, version) || isOlder(record, version)) return false;
  touch(record, version);
  return true;
}

/** A generation's events may trail; they never roll the version back. */
function touch<T extends AgentContract>(record: ThreadRecord<T>, version: ThreadVersion): void {
  if (version.revision > record.head.version.revision) record.head = { ...record.head, version };
}
