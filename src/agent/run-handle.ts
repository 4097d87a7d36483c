import type { ThreadState } from "./project.ts";
import type { AgentContract, PaiThreadTransportState, RunId, ThreadVersion } from "./protocol.ts";
import type { RunAcceptance } from "./reduce.ts";
import type { LiveThread } from "./thread-live.ts";

/** A run that was accepted. Waiting for it keeps a watch of its thread going; what happened before is seen too. */
export interface RunHandle<T extends AgentContract = AgentContract> {
  readonly runId: RunId;
  /** Resolves with the thread's state once the run is completed, failed or aborted. Rejects where the watch cannot be kept. */
  waitUntilIdle(): Promise<ThreadState<T>>;
  /** As `waitUntilIdle`, and also once the run waits for an action. */
  waitUntilBlocked(): Promise<ThreadState<T>>;
}

/** A handle on a run of a thread, which was accepted just now. */
export function createRunHandle<T extends AgentContract>(live: LiveThread, run: RunAcceptance): RunHandle<T> {
  const { runId } = run;
  const earlier = live.facts.thread.version.threadInstanceId;

  /** Whether what is known is not older than the acceptance: else it knows nothing of the run, or not that it goes on. */
  function isCurrent({ threadInstanceId, revision }: ThreadVersion): boolean {
    if (threadInstanceId === run.version.threadInstanceId) return revision >= run.version.revision;
    return threadInstanceId !== earlier;
  }
  const isOver = ({ runs, activeRunId }: PaiThreadTransportState): boolean => {
    if (activeRunId === runId) return false;
    const known = runs.find((each) => each.runId === runId);
    return known === undefined ? live.isGone(run) : OVER.has(known.status);
  };
  const isWaiting = ({ runs }: PaiThreadTransportState): boolean =>
    runs.some((each) => each.runId === runId && each.status === "waiting");
  const until = (holds: (facts: PaiThreadTransportState) => boolean): Promise<ThreadState<T>> =>
    waitFor(live, runId, (facts) => isCurrent(facts.thread.version) && holds(facts)) as Promise<
      ThreadState<unknown & AgentContract>
    > as Promise<ThreadState<T>>;
  return {
    runId,
    waitUntilIdle: () => until(isOver),
    waitUntilBlocked: () => until((facts) => isOver(facts) || isWaiting(facts)),
  };
}

const OVER = new Set<string>(["completed", "failed", "aborted"]);

async function waitFor(
  live: LiveThread,
  runId: RunId,
  holds: (facts: PaiThreadTransportState) => boolean,
): Promise<ThreadState> {
  // The end of a run is final: nothing has to be watched to know it.
  const ended = live.facts.runs.some((run) => run.runId === runId && OVER.has(run.status));
  if (ended && holds(live.facts)) {
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
