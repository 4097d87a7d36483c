import type {
  AgentContract,
  PaiThreadHead,
  PaiThreadHeadEvent,
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  ThreadId,
  ThreadVersion,
} from "./protocol.ts";
import { malformed } from "./reduce-malformed.ts";
import { type Channel, createChannel } from "./world-channel.ts";
import { createFileShelf, type FileShelf } from "./world-files.ts";
import { createIds, type Ids } from "./world-ids.ts";
import { createLane, type Lane } from "./world-lane.ts";
import { createRequestLog, type RequestLog } from "./world-requests.ts";
import { applyEvent } from "./world-rules.ts";
import { createThreadRecord, loadState, type ThreadRecord, threadState } from "./world-thread.ts";

export interface WorldOptions {
  /** The time of what happens, ISO 8601; default: one second later each time, from a fixed start. */
  readonly now?: () => string;
}

/** What the events of a commit are built from: the thread as it stands when the commit's turn comes. */
export interface CommitPoint<T extends AgentContract = AgentContract> {
  /** The version of the commit: one revision after the thread's. */
  readonly version: ThreadVersion;
  readonly head: PaiThreadHead<T>;
  /** Sequence of the active generation's last retained frame; 0 after `generation.started`. */
  readonly seq: number;
  readonly record: ThreadRecord<T>;
}

/**
 * An agent's backend in memory: what stands behind the mock, where a test's script moves it, and behind the replay
 * transport, where a cassette does. Everything that happens to a thread is an event; each is applied to the store by
 * the rules of the watch stream protocol and handed to the watchers, in one order for all of them.
 */
export interface World<T extends AgentContract = AgentContract> {
  readonly ids: Ids;
  readonly files: FileShelf;
  readonly requests: RequestLog;
  now(): string;
  /** Whether the thread was written to. */
  has(threadId: ThreadId): boolean;
  /** The thread as it is stored, to be looked at and not changed; `undefined`: unknown. */
  peek(threadId: ThreadId): Readonly<ThreadRecord<T>> | undefined;
  /** What `getThreadState` answers, as a copy. An unknown thread is an empty idle one. */
  state(threadId: ThreadId): PaiThreadTransportState<T>;
  /** The heads of all threads, in the order of their creation, as copies. */
  heads(): readonly PaiThreadHead<T>[];
  /**
   * Applies an event to the store and forwards it verbatim, as the same object, to the thread's watchers. Resolves
   * with whether the store took it: what is stale, out of sequence, of another incarnation or not reducible leaves
   * the store as it was and is forwarded all the same. Only a message chunk is applied asynchronously; anything else is
   * applied and forwarded before this returns, unless a chunk is under way.
   */
  publish(threadId: ThreadId, event: PaiThreadTransportEvent<T>): Promise<boolean>;
  /** As `publish`, to the store alone. */
  apply(threadId: ThreadId, event: PaiThreadTransportEvent<T>): Promise<boolean>;
  /** Applies an event of the list of threads, and forwards it verbatim to the watchers of heads. */
  publishHead(event: PaiThreadHeadEvent<T>): void;
  /**
   * Publishes what `build` returns as one turn: nothing comes between the events, and the version that they may carry
   * is the thread's next. A head that changes is told to the watchers of heads too.
   */
  commit(threadId: ThreadId, build: (point: CommitPoint<T>) => readonly PaiThreadTransportEvent<T>[]): Promise<boolean>;
  /** Adds a thread, or replaces the one of this id by a newer revision; watchers are given a snapshot. */
  load(state: PaiThreadTransportState<T>): void;
  /** Forgets a thread. Its id may be used again, by another incarnation. */
  remove(threadId: ThreadId): void;
  /**
   * The events of a thread, by the protocol's six steps: subscribe; read the state; emit it as a snapshot, unless
   * `includeInitial` is `false`; drain what came meanwhile; replay the active generation from its start; go on. Each
   * iteration is a subscription of its own, which ends with `signal`, with `return()`, or when the world is cleared.
   */
  watch(
    threadId: ThreadId,
    options?: { includeInitial?: boolean; signal?: AbortSignal },
  ): AsyncIterable<PaiThreadTransportEvent<T>>;
  /** A snapshot of all heads, then what changes. */
  watchHeads(options?: { signal?: AbortSignal }): AsyncIterable<PaiThreadHeadEvent<T>>;
  /** Ends every watch and forgets everything but which incarnations there were. */
  clear(): void;
}

type ThreadEvent<T extends AgentContract> = PaiThreadTransportEvent<T>;

/** A world with nothing in it. */
export function createWorld<T extends AgentContract = AgentContract>(options: WorldOptions = {}): World<T> {
  const ids = createIds();
  const now = options.now ?? countedTime();
  const files = createFileShelf();
  const requests = createRequestLog();
  const threads = new Map<ThreadId, ThreadRecord<T>>();
  const lanes = new Map<ThreadId, Lane>();
  const watchers = new Map<ThreadId, Set<Channel<ThreadEvent<T>>>>();
  const headWatchers = new Set<Channel<PaiThreadHeadEvent<T>>>();
  // They outlive `clear`: a client that still holds a thread of before must see that this is another one.
  const dead = new Map<ThreadId, Set<string>>();
  let epoch = 0;

  const blank = (threadId: ThreadId): ThreadRecord<T> =>
    createThreadRecord<T>(threadId, `instance_${(dead.get(threadId)?.size ?? 0) + 1}`);
  const recordOf = (threadId: ThreadId): ThreadRecord<T> => {
    const known = threads.get(threadId);
    if (known !== undefined) return known;
    const created = blank(threadId);
    threads.set(threadId, created);
    return created;
  };
  const laneOf = (threadId: ThreadId): Lane => {
    const lane = lanes.get(threadId) ?? createLane();
    lanes.set(threadId, lane);
    return lane;
  };
  const forward = (threadId: ThreadId, event: ThreadEvent<T>): void => {
    for (const watcher of watchers.get(threadId) ?? []) watcher.push(event);
  };
  const tellHeads = (event: PaiThreadHeadEvent<T>): void => {
    for (const watcher of headWatchers) watcher.push(event);
  };
  const forget = (threadId: ThreadId): void => {
    const record = threads.get(threadId);
    if (record === undefined) return;
    threads.delete(threadId);
    dead.set(threadId, (dead.get(threadId) ?? new Set()).add(record.head.version.threadInstanceId));
  };

  // What a recording says of a thread that is new here is of the incarnation that it names, but for a deleted one.
  const firstHeardOf = (threadId: ThreadId, event: ThreadEvent<T>): ThreadRecord<T> => {
    const record = blank(threadId);
    const instance =
      "version" in event
        ? event.version.threadInstanceId
        : event.type === "thread.head.changed"
          ? event.head.version.threadInstanceId
          : undefined;
    if (instance === undefined || dead.get(threadId)?.has(instance)) return record;
    return createThreadRecord<T>(threadId, instance);
  };
  const take = (threadId: ThreadId, event: ThreadEvent<T>): boolean | Promise<boolean> => {
    // It is for the watchers to judge; the store would not be a state any more.
    if (malformed(event) !== undefined) return false;
    // An event that says nothing of a thread does not make it exist.
    const known = threads.has(threadId) || !("version" in event || "head" in event || "state" in event);
    const record = threads.get(threadId) ?? firstHeardOf(threadId, event);
    const taken = applyEvent(record, event);
    if (known) return taken;
    const keep = (was: boolean): boolean => {
      if (was) threads.set(threadId, record);
      return was;
    };
    return taken instanceof Promise ? taken.then(keep) : keep(taken);
  };

  const inTurn = (threadId: ThreadId, work: () => boolean | Promise<boolean>): Promise<boolean> => {
    const begun = epoch;
    return laneOf(threadId)(() => (epoch === begun ? work() : false));
  };

  return {
    ids,
    files,
    requests,
    now,
    has: (threadId) => threads.has(threadId),
    peek: (threadId) => threads.get(threadId),
    state: (threadId) => threadState(threads.get(threadId) ?? blank(threadId)),
    heads: () => [...threads.values()].map((record) => structuredClone(record.head)),
    apply: (threadId, event) => inTurn(threadId, () => take(threadId, event)),
    publish: (threadId, event) =>
      inTurn(threadId, () => {
        const pass = (taken: boolean): boolean => {
          forward(threadId, event);
          return taken;
        };
        let taken: boolean | Promise<boolean>;
        try {
          taken = take(threadId, event);
        } catch {
          // Whatever was published is no event of this protocol: the watchers are to judge it, the store is not to know.
          taken = false;
        }
        return taken instanceof Promise ? taken.then(pass) : pass(taken);
      }),
    publishHead(event) {
      if (event.type === "thread.head.changed") {
        if (event.reason === "deleted") forget(event.head.id);
        else recordOf(event.head.id).head = structuredClone(event.head);
      } else if (event.type === "snapshot") {
        for (const head of event.heads) recordOf(head.id).head = structuredClone(head);
      }
      tellHeads(event);
    },
    commit: (threadId, build) =>
      inTurn(threadId, () => {
        const record = recordOf(threadId);
        const { threadInstanceId, revision } = record.head.version;
        const events = build({
          version: { threadInstanceId, revision: revision + 1 },
          head: record.head,
          seq: record.generation?.seq ?? 0,
          record,
        });
        const step = (index: number): boolean | Promise<boolean> => {
          const event = events[index];
          if (event === undefined) return true;
          const go = (taken: boolean): boolean | Promise<boolean> => {
            forward(threadId, event);
            if (event.type === "thread.head.changed") tellHeads(event);
            return taken ? step(index + 1) : false;
          };
          const taken = take(threadId, event);
          return taken instanceof Promise ? taken.then(go) : go(taken);
        };
        return step(0);
      }),
    load(state) {
      const threadId = state.thread.id;
      const existing = threads.get(threadId);
      const record = blank(threadId);
      const version = existing?.head.version ?? { ...record.head.version, revision: 0 };
      loadState(record, structuredClone(state), {
        threadInstanceId: version.threadInstanceId,
        revision: Math.max(version.revision + 1, state.thread.version.revision),
      });
      threads.set(threadId, record);
      forward(threadId, { type: "snapshot", state: threadState(record) });
      const head = structuredClone(record.head);
      tellHeads({ type: "thread.head.changed", reason: existing === undefined ? "created" : "attributes", head });
    },
    remove(threadId) {
      const record = threads.get(threadId);
      if (record === undefined) return;
      const { threadInstanceId, revision } = record.head.version;
      const head = { ...structuredClone(record.head), version: { threadInstanceId, revision: revision + 1 } };
      forget(threadId);
      const event = { type: "thread.head.changed", reason: "deleted", head } as const;
      forward(threadId, event);
      tellHeads(event);
    },
    watch(threadId, { includeInitial = true, signal } = {}) {
      return {
        [Symbol.asyncIterator]() {
          const here = watchers.get(threadId) ?? new Set();
          watchers.set(threadId, here);
          // The state is read in the turn of the subscription, so the steps cannot be interleaved: nothing is lost or
          // seen twice between them. A chunk under way is forwarded when it has been applied, after the replay.
          const channel = createChannel<ThreadEvent<T>>(signal, () => here.delete(channel));
          here.add(channel);
          const record = threads.get(threadId) ?? blank(threadId);
          if (includeInitial) channel.push({ type: "snapshot", state: threadState(record) });
          for (const frame of record.generation?.frames ?? []) channel.push(frame);
          return channel.iterator;
        },
      };
    },
    watchHeads({ signal } = {}) {
      return {
        [Symbol.asyncIterator]() {
          const channel = createChannel<PaiThreadHeadEvent<T>>(signal, () => headWatchers.delete(channel));
          headWatchers.add(channel);
          channel.push({
            type: "snapshot",
            heads: [...threads.values()].map((record) => structuredClone(record.head)),
          });
          return channel.iterator;
        },
      };
    },
    clear() {
      epoch += 1;
      for (const threadId of [...threads.keys()]) forget(threadId);
      for (const set of [...watchers.values(), headWatchers]) for (const channel of [...set]) channel.end();
      watchers.clear();
      lanes.clear();
      files.clear();
      requests.clear();
      ids.clear();
    },
  };
}

function countedTime(): () => string {
  let seconds = 0;
  return () => new Date(Date.UTC(2026, 0, 1) + seconds++ * 1000).toISOString();
}
