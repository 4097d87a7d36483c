import { OptionInvalid } from "../errors.ts";
import { admission } from "./mock-admission.ts";
import { headChanged } from "./mock-head.ts";
import type {
  AgentContract,
  MessageId,
  PaiThreadTransportEvent,
  PaiUIMessageChunk,
  PersistedErrorRecord,
  RunId,
  RunStateDTO,
  RunStatus,
  ThreadErrorRecord,
  ThreadId,
  ThreadVersion,
} from "./protocol.ts";
import type { Chunk } from "./script-chunks.ts";
import type { CommitPoint, World } from "./world.ts";

/** How a run that is not running any more ended. */
export type RunEnd = { readonly type: "completed" } | { readonly type: "failed"; readonly error: Error } | Aborted;
interface Aborted {
  readonly type: "aborted";
  readonly reason?: string | undefined;
}

/** A running run as a script moves it. Each operation resolves when its events are with the watchers. */
export interface MockRun {
  readonly threadId: ThreadId;
  readonly runId: RunId;
  /** Whether it has ended, by whatever: its script, `mock.events`, a deletion, a reset. */
  readonly over: boolean;
  /** The model message that it writes; started by the first chunk. */
  readonly messageId: MessageId;
  /** Publishes a retained chunk. Rejects where the run is over. */
  write(chunk: Chunk): Promise<void>;
  /** Publishes a chunk that is shown live and not kept. */
  show(chunk: Chunk): Promise<void>;
  /** Closes the message and the generation, and admits what waits in the queue. */
  end(how: RunEnd): Promise<void>;
}

/** The control of a run that was admitted. `onAdmitted` is told of the one that leaves the queue when this one ends. */
export function createMockRun<T extends AgentContract>(
  world: World<T>,
  { threadId, runId }: { readonly threadId: ThreadId; readonly runId: RunId },
  onAdmitted: (runId: RunId) => void,
): MockRun {
  let ended = false;
  let messageId: MessageId | undefined;
  let opened: Promise<void> | undefined;
  // The ids of another incarnation of the thread, or of another life of the mock, are not this run's.
  const threadInstanceId = world.peek(threadId)?.head.version.threadInstanceId;

  const isOver = (): boolean => {
    if (ended) return true;
    const record = world.peek(threadId);
    return record?.activeRunId !== runId || record.head.version.threadInstanceId !== threadInstanceId;
  };
  const overError = (): OptionInvalid =>
    new OptionInvalid(
      `Run "${runId}" of thread "${threadId}" is over, and a script still writes to it. Ended it in the script by complete(), fail() or abort(), or outside by mock.events, deleteThread or reset? Write nothing after that.`,
      { threadId, runId },
    );
  const isActive = ({ record, version }: CommitPoint<T>): boolean =>
    !ended && record.activeRunId === runId && version.threadInstanceId === threadInstanceId;

  async function put(chunk: Chunk, live: boolean): Promise<void> {
    let active = false;
    const taken = await world.commit(threadId, (point) => {
      active = isActive(point);
      if (!active) return [];
      return [
        {
          type: "generation.message.chunk",
          version: point.head.version,
          runId,
          seq: live ? 0 : point.seq + 1,
          messageId: own(),
          chunk: chunk as PaiUIMessageChunk<T>,
        },
      ];
    });
    if (!active) throw overError();
    if (!taken) {
      throw new OptionInvalid(
        `Run "${runId}" of thread "${threadId}": the AI SDK refuses a chunk of type "${chunk.type}" where it stands. A delta needs its start, an output its call.`,
        { threadId, runId, chunk },
      );
    }
  }
  const own = (): MessageId => (messageId ??= world.ids.next("msg"));
  const open = (): Promise<void> =>
    (opened ??= (async () => {
      const pai = { runId, producer: "model", createdAt: world.now() };
      await put({ type: "start", messageId: own(), messageMetadata: { pai } }, false);
      await put({ type: "start-step" }, false);
    })());

  return {
    threadId,
    runId,
    get over() {
      return isOver();
    },
    get messageId() {
      return own();
    },
    async write(chunk) {
      await open();
      await put(chunk, false);
    },
    async show(chunk) {
      await open();
      await put(chunk, true);
    },
    async end(how) {
      if (isOver()) throw overError();
      if (how.type === "completed") {
        await open();
        await put({ type: "finish-step" }, false);
        await put({ type: "finish", finishReason: "stop" }, false);
      }
      let next: RunId | undefined;
      const wrote = opened !== undefined;
      await world.commit(threadId, (point) => {
        if (!isActive(point)) return [];
        ended = true;
        const finished = settle(world, point, runId, how, wrote);
        if (how.type === "failed") return [...finished, ...drain(point)];
        const [item] = point.record.queue;
        if (item === undefined) return finished;
        next = item.runId;
        return [...finished, ...admission(world, point, { item, after: 1 })];
      });
      ended = true;
      if (next !== undefined) onAdmitted(next);
    },
  };
}

type Events<T extends AgentContract> = PaiThreadTransportEvent<T>[];

function settle<T extends AgentContract>(
  world: World<T>,
  { record, head, version, seq }: CommitPoint<T>,
  runId: RunId,
  how: RunEnd,
  wrote: boolean,
): Events<T> {
  const run = record.runs.find((each) => each.runId === runId) as RunStateDTO<T>;
  const at = world.now();
  const waits = record.pending.some((action) => action.runId === runId);
  const status: RunStatus = how.type === "completed" && waits ? "waiting" : how.type;
  const others = record.pending.some((action) => action.runId !== runId);
  const error = how.type === "failed" ? errorOf(how.error, run) : undefined;
  const updated: RunStateDTO<T> = {
    ...run,
    status,
    ...(status === "waiting" ? {} : { finishedAt: at }),
    ...(error === undefined ? {} : { error }),
  };
  const threadStatus =
    error !== undefined ? "failed" : (waits && how.type === "completed") || others ? "waiting" : "idle";
  return [
    ...generationEnd<T>(runId, version, seq + 1, how, error, wrote),
    { type: "run.updated", version, run: updated },
    headChanged(head, version, { status: threadStatus, updatedAt: at }, "status"),
  ];
}

function generationEnd<T extends AgentContract>(
  runId: RunId,
  version: ThreadVersion,
  seq: number,
  how: RunEnd,
  error: ThreadErrorRecord | undefined,
  wrote: boolean,
): Events<T> {
  if (how.type === "completed") return [{ type: "generation.completed", version, runId }];
  if (how.type === "aborted") {
    const { reason } = how;
    return [{ type: "generation.aborted", version, runId, seq, ...(reason === undefined ? {} : { reason }) }];
  }
  const record = error as ThreadErrorRecord;
  // Where a message was under way, its reduction ends first; the run's outcome follows.
  return [
    ...(wrote ? [{ type: "generation.error", version, runId, seq, error: persisted(how.error) } as const] : []),
    { type: "generation.failed", version, runId, error: record },
  ];
}

/** What waits in the queue does not follow a failure: it is taken out, and its runs never run. */
function drain<T extends AgentContract>({ record, version }: CommitPoint<T>): Events<T> {
  return record.queue.flatMap(({ queueItemId, runId }): Events<T> => {
    const run = record.runs.find((each) => each.runId === runId);
    return [
      { type: "queue-item-removed", version, runId, queueItemId, reason: "drained" },
      ...(run === undefined ? [] : [{ type: "run.updated", version, run: { ...run, status: "aborted" } } as const]),
    ];
  });
}

/** An error as it is stored: what a client may know of it. */
export function persisted(error: Error): PersistedErrorRecord {
  const { code } = error as { code?: unknown };
  return {
    message: error.message,
    ...(error.name === "Error" ? {} : { name: error.name }),
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
  };
}

function errorOf<T extends AgentContract>(error: Error, run: RunStateDTO<T>): ThreadErrorRecord {
  return { ...persisted(error), runId: run.runId, operation: run.operation, messageId: run.messageId };
}
