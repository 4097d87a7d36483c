import { inspectWorld, type MockInspectionController } from "../../agent/mock-inspect.ts";
import type {
  AgentContract,
  AgentManifest,
  FileId,
  PaiThreadHeadEvent,
  PaiThreadTransportEvent,
  ThreadId,
} from "../../agent/protocol.ts";
import { keepEventText, rawEventText } from "../../agent/sse-events.ts";
import { createWorld, type World } from "../../agent/world.ts";

/** The world that a replay's played events and results make: what it shows, and what it answers beyond the recording. */
export interface PlayedWorld<T extends AgentContract = AgentContract> {
  readonly world: World<T>;
  readonly inspect: MockInspectionController<T>;
  /** The agent's manifest, once it was played. */
  manifest: AgentManifest | undefined;
  /** The URLs of files that were played. */
  readonly urls: Map<FileId, string | null>;
  /** Resolves when it has been applied, or cannot be. */
  publish(threadId: ThreadId, event: PaiThreadTransportEvent<T>): Promise<void>;
  publishHead(event: PaiThreadHeadEvent<T>): void;
  /** Resolves when everything that was published has been applied; rejects where a thread could not be followed. */
  settled(threadId?: ThreadId): Promise<void>;
}

/** A world in which nothing was played yet. */
export function createPlayedWorld<T extends AgentContract>(): PlayedWorld<T> {
  const world = createWorld<T>();
  const pending = new Map<ThreadId, Promise<void>>();
  const faults = new Map<ThreadId, Error>();
  const following = (threadId: ThreadId | undefined): void => {
    const [fault] = threadId === undefined ? faults.values() : [faults.get(threadId)];
    if (fault !== undefined) throw fault;
  };
  const inspected = inspectWorld(world);
  return {
    world,
    manifest: undefined,
    urls: new Map(),
    inspect: {
      ...inspected,
      thread(threadId) {
        following(threadId);
        return inspected.thread(threadId);
      },
    },
    publish(threadId, event) {
      // A cassette may hold less than a state (it may be written by hand): it plays, and only its world is not known.
      const applied = world.publish(threadId, event).then(
        (taken) => {
          if (taken && event.type === "snapshot") faults.delete(threadId);
        },
        (cause: unknown) => {
          faults.set(threadId, unfollowed(threadId, event.type, cause));
        },
      );
      pending.set(threadId, applied);
      return applied;
    },
    publishHead: (event) => world.publishHead(event),
    async settled(threadId) {
      await (threadId === undefined ? Promise.all(pending.values()) : pending.get(threadId));
      following(threadId);
    },
  };
}

function unfollowed(threadId: ThreadId, type: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `The state of thread ${threadId} is not known: an event ${type} was played that a world cannot apply (${why}).\n  next      give the event in the cassette all of its fields, or do not look at the world of this replay`,
    { cause },
  );
}

/** A copy of an event for a program: it may be changed, and has the same exact text. */
export function copyOfEvent<E extends object>(event: E): E {
  const text = rawEventText(event);
  return text === undefined ? structuredClone(event) : keepEventText(JSON.parse(text) as E, text);
}
