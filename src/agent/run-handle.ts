import type { ThreadState } from "./project.ts";
import type { AgentContract, PaiThreadTransportState, RunId } from "./protocol.ts";
import type { LiveThread } from "./thread-live.ts";

/** A run that was accepted. Waiting for it keeps a watch of its thread going; what happened before is seen too. */
export interface RunHandle<T extends AgentContract = AgentContract> {
  readonly runId: RunId;
  /** Resolves with the thread's state once the run is completed, failed or aborted. Rejects where the watch cannot be kept. */
  waitUntilIdle(): Promise<ThreadState<T>>;
  /** As `waitUntilIdle`, and also once the run waits for an action. */
  waitUntilBlocked(): Promise<ThreadState<T>>;
}

/** A handle on a run of a thread. */
export function createRunHandle<T extends AgentContract>(live: LiveThread, runId: RunId): RunHandle<T> {
  const until = (holds: (facts: PaiThreadTransportState) => boolean): Promise<ThreadState<T>> =>
    waitFor(live, runId, holds) as Promise<ThreadState<unknown & AgentContract>> as Promise<ThreadState<T>>;
  return {
    runId,
    waitUntilIdle: () => until((facts) => isOver(facts, runId)),
    waitUntilBlocked: () => until((facts) => isOver(facts, runId) || isWaiting(facts, runId)),
  };
}

const OVER = new Set<string>(["completed", "failed", "aborted"]);

function isOver({ runs, activeRunId, queue }: PaiThreadTransportState, runId: RunId): boolean {
  if (activeRunId === runId) return false;
  const run = runs.find((each) => each.runId === runId);
  // A run that the thread does not have (it was deleted, say) will not go on either.
  return run === undefined ? !queue.items.some((item) => item.runId === runId) : OVER.has(run.status);
}

function isWaiting({ runs }: PaiThreadTransportState, runId: RunId): boolean {
  return runs.some((run) => run.runId === runId && run.status === "waiting");
}

async function waitFor(
  live: LiveThread,
  runId: RunId,
  holds: (facts: PaiThreadTransportState) => boolean,
): Promise<ThreadState> {
  // The end of a run is final: nothing has to be watched to know it.
  if (live.facts.runs.some((run) => run.runId === runId) && isOver(live.facts, runId)) {
    const state = await live.read();
    if (state !== undefined) return state;
  }
  return new Promise((resolve, reject) => {
    let release = listen();
    let seen: PaiThreadTransportState | undefined;

    function listen(): () => void {
      return live.listen({
        insists: true,
        notify(change) {
          if (change.type === "changed") return check();
          release();
          if (change.type === "failed") reject(change.error);
          else release = listen();
        },
      });
    }
    function check(): void {
      const { facts } = live;
      if (facts === seen || !live.attached) return;
      seen = facts;
      if (!holds(facts)) return;
      live.read().then((state) => {
        if (state === undefined) return;
        release();
        resolve(state);
      }, fail);
    }
    function fail(error: unknown): void {
      release();
      reject(error);
    }
    check();
  });
}
