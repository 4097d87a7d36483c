import { inspectWorld, type MockInspectionController } from "../../agent/mock-inspect.ts";
import type { AgentContract, AgentManifest, FileId, PaiThreadTransportEvent, ThreadId } from "../../agent/protocol.ts";
import { keepEventText, rawEventText } from "../../agent/sse-events.ts";
import { createWorld, type World } from "../../agent/world.ts";
import { CassetteInvalid } from "../../errors.ts";

/** The world that a replay's played events and results make: what it shows, and what it answers beyond the recording. */
export interface PlayedWorld<T extends AgentContract = AgentContract> {
  readonly world: World<T>;
  readonly inspect: MockInspectionController<T>;
  /** The agent's manifest, once it was played. */
  manifest: AgentManifest | undefined;
  /** The URLs of files that were played. */
  readonly urls: Map<FileId, string | null>;
  /** Changes the world by what is played. Resolves when that is done, or cannot be: then `settled` and `inspect` say so. */
  follow(threadId: ThreadId | undefined, change: () => unknown): Promise<void>;
  /** Publishes an event to the world. Resolves as `follow` does. */
  publish(threadId: ThreadId, event: PaiThreadTransportEvent<T>): Promise<void>;
  /** Resolves when everything that was played has been followed; rejects where it could not be. */
  settled(threadId: ThreadId | undefined): Promise<void>;
}

/** A world in which nothing was played yet. */
export function createPlayedWorld<T extends AgentContract>(): PlayedWorld<T> {
  const world = createWorld<T>();
  const pending = new Map<ThreadId | undefined, Promise<void>>();
  const faults = new Map<ThreadId | undefined, CassetteInvalid>();
  const refuseUnknown = (threadId: ThreadId | undefined): void => {
    const fault = faults.get(threadId);
    if (fault !== undefined) throw fault;
  };
  const inspected = inspectWorld(world);

  // A cassette may hold less than a world needs (it may be written by hand): it plays, and only its world is not known.
  async function follow(threadId: ThreadId | undefined, change: () => unknown): Promise<void> {
    try {
      await change();
    } catch (cause) {
      faults.set(threadId, unfollowed(threadId, cause));
    }
  }
  const inLine = (threadId: ThreadId | undefined, followed: Promise<void>): Promise<void> => {
    pending.set(threadId, followed);
    return followed;
  };
  return {
    world,
    manifest: undefined,
    urls: new Map(),
    inspect: {
      ...inspected,
      thread(threadId) {
        refuseUnknown(threadId);
        return inspected.thread(threadId);
      },
    },
    follow: (threadId, change) => inLine(threadId, follow(threadId, change)),
    publish: (threadId, event) =>
      inLine(
        threadId,
        follow(threadId, async () => {
          const taken = await world.publish(threadId, event);
          if (event.type !== "snapshot") return;
          if (!taken && !world.has(threadId)) throw new Error("the snapshot is not whole");
          if (taken) faults.delete(threadId); // all is known again
        }),
      ),
    async settled(threadId) {
      await pending.get(threadId);
      refuseUnknown(threadId);
    },
  };
}

function unfollowed(threadId: ThreadId | undefined, cause: unknown): CassetteInvalid {
  const why = cause instanceof Error ? cause.message : String(cause);
  const what = threadId === undefined ? "The lists and files of this replay are" : `The state of thread ${threadId} is`;
  return new CassetteInvalid(
    `${what} not known: something was played that a world cannot apply (${why}).\n  next      give it all of its fields in the cassette, or do not look at the world of this replay`,
    threadId === undefined ? {} : { thread: threadId },
    { cause },
  );
}

/** A copy of an event for a program: it may be changed, and has the same exact text. */
export function copyOfEvent<E extends object>(event: E): E {
  const text = rawEventText(event);
  return text === undefined ? structuredClone(event) : keepEventText(JSON.parse(text) as E, text);
}
