import { misuse } from "./mock-refusal.ts";
import type { MockRun, RunEnd } from "./mock-run.ts";
import type { AgentContract, PaiThreadHeadEvent, PaiThreadTransportEvent, RunId, ThreadId } from "./protocol.ts";
import { checkError } from "./script-checks.ts";
import type { World } from "./world.ts";

/** What happens outside of scripted responses. It flows through the watches, as what a backend sends does. */
export interface MockEventController<T extends AgentContract = AgentContract> {
  /** Sends an event to the thread's watchers as it is. The store takes it too, where it is in order. */
  pushThread(threadId: ThreadId, event: PaiThreadTransportEvent<T>): void;
  /** Sends an event to the watchers of the list of threads. */
  pushThreadHead(event: PaiThreadHeadEvent<T>): void;
  /** Completes the active run. Throws where none is active. The promise settles when the watchers have been told. */
  completeRun(threadId: ThreadId, runId?: RunId): Promise<void>;
  /** Fails the active run. Throws where none is active. */
  failRun(threadId: ThreadId, error: Error): Promise<void>;
}

/** The events of a world. `controlOf` gives the control of an active run. */
export function createMockEvents<T extends AgentContract>(
  world: World<T>,
  controlOf: (threadId: ThreadId, runId: RunId) => MockRun,
): MockEventController<T> {
  // Not asynchronous: a mistake of the test's author is thrown where it was made, awaited or not.
  const end = (what: string, threadId: ThreadId, how: RunEnd, runId?: RunId): Promise<void> => {
    const active = world.peek(threadId)?.activeRunId ?? null;
    if (active === null) {
      throw misuse(
        `events.${what}("${threadId}"): no run is active in this thread. Send something first, and queue no response, so that its run stays running.`,
        { threadId },
      );
    }
    if (runId !== undefined && runId !== active) {
      throw misuse(`events.${what}("${threadId}", "${runId}"): the active run of this thread is "${active}".`, {
        threadId,
        runId,
        active,
      });
    }
    return controlOf(threadId, active).end(how);
  };
  return {
    pushThread(threadId, event) {
      if (typeof event?.type !== "string")
        throw misuse("events.pushThread(threadId, event) takes an event with a type.");
      void world.publish(threadId, event);
    },
    pushThreadHead(event) {
      const whole =
        event?.type === "thread.head.changed" ? typeof event.head?.id === "string" : typeof event?.type === "string";
      if (!whole) throw misuse("events.pushThreadHead(event) takes an event with a type, and its whole head.");
      world.publishHead(event);
    },
    completeRun: (threadId, runId) => end("completeRun", threadId, { type: "completed" }, runId),
    failRun: (threadId, error) =>
      end("failRun", threadId, { type: "failed", error: checkError("events.failRun()", error) }),
  };
}
