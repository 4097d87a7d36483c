import type {
  PaiThreadHeadEvent,
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  RunId,
  ThreadId,
} from "../agent/protocol.ts";
import type { AcceptedRun, AgentClientTransport, TransportSupports } from "../agent/transport.ts";
import type { SuiteContract, SuiteFixture, SuiteScript } from "./fixture.ts";
import { openWatcher, patiently, type Watcher } from "./watcher.ts";

export type SuiteEvent = PaiThreadTransportEvent<SuiteContract>;
export type SuiteState = PaiThreadTransportState<SuiteContract>;

/** What the suite needs of an assertion library: vitest's, jest's and `expect`'s have it. */
export type SuiteExpect = (actual: unknown) => {
  toEqual(expected: unknown): unknown;
  toMatchObject(expected: object): unknown;
};

/** What a scenario has at hand. */
export interface Session {
  readonly transport: AgentClientTransport<SuiteContract>;
  readonly script: SuiteScript;
  readonly expect: SuiteExpect;
  /** A thread that no other scenario uses. */
  readonly threadId: ThreadId;
  /** Opens a watch and, unless it asks for none, waits for its snapshot. It is closed when the scenario ends. */
  watch(threadId?: ThreadId, options?: { includeInitial?: boolean }): Promise<Watcher<SuiteEvent>>;
  watchHeads(): Promise<Watcher<PaiThreadHeadEvent<SuiteContract>>>;
  /** Sends a text and settles when the backend has accepted it. */
  send(text: string, threadId?: ThreadId): Promise<AcceptedRun>;
  state(threadId?: ThreadId): Promise<SuiteState>;
  /** The state once a run's generation is closed. Asked again for the same run: once its next generation is closed. */
  settled(run: { readonly runId: RunId; readonly threadId: ThreadId }): Promise<SuiteState>;
  /** Asserts that a promise rejects with an `Error` that says something, and gives it. */
  rejection(what: string, promise: Promise<unknown>): Promise<Error>;
}

/** Whether an event closes the generation of a run. */
export function closes(event: SuiteEvent, runId: RunId): boolean {
  return (event.type === "generation.completed" || event.type === "generation.failed") && event.runId === runId;
}

async function rejection(what: string, promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`${what} should have been refused, and was not.`);
  if (!(outcome.error instanceof Error) || outcome.error.message === "") {
    throw new Error(`${what} was refused with something that is not an Error with a message: ${String(outcome.error)}`);
  }
  return outcome.error;
}

/**
 * Runs one scenario over a fixture: watches are closed and the fixture is disposed of however it ends. Throws what failed
 * first; what failed while tidying up is its cause.
 */
export async function runSession(
  fixture: SuiteFixture,
  options: { expect: SuiteExpect; supports: TransportSupports; threadId: ThreadId },
  scenario: (session: Session) => Promise<void>,
): Promise<void> {
  const { transport, script } = fixture;
  const open: Watcher<unknown>[] = [];
  const watchers = new Map<ThreadId, Watcher<SuiteEvent>>();
  const generations = new Map<RunId, number>();

  const settledByReading = async (run: { runId: RunId; threadId: ThreadId }): Promise<SuiteState> => {
    for (;;) {
      const state = await transport.getThreadState(run.threadId);
      const status = state.runs.find((one) => one.runId === run.runId)?.status;
      if (status !== "queued" && status !== "running") return state;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  const session: Session = {
    transport,
    script,
    expect: options.expect,
    threadId: options.threadId,
    watch: async (threadId = options.threadId, how = {}) => {
      const watcher = openWatcher((signal) => transport.watchThread(threadId, { ...how, signal }));
      open.push(watcher);
      if (!watchers.has(threadId)) watchers.set(threadId, watcher);
      if (how.includeInitial !== false) await watcher.until("a snapshot", (event) => event.type === "snapshot");
      return watcher;
    },
    watchHeads: async () => {
      const watcher = openWatcher((signal) => transport.watchThreadHeads({ signal }));
      open.push(watcher);
      await watcher.until("a snapshot of the heads", (event) => event.type === "snapshot");
      return watcher;
    },
    send: async (text, threadId = options.threadId) => {
      if (options.supports.watch && !watchers.has(threadId)) await session.watch(threadId);
      return await transport.send({ threadId, text });
    },
    state: (threadId = options.threadId) => transport.getThreadState(threadId),
    settled: async (run) => {
      const watcher = watchers.get(run.threadId);
      if (watcher === undefined) return await patiently(settledByReading(run), () => `the end of run ${run.runId}`);
      const generation = (generations.get(run.runId) ?? 0) + 1;
      generations.set(run.runId, generation);
      let closed = 0;
      await watcher.until(
        `the end of run ${run.runId}`,
        (event) => closes(event, run.runId) && ++closed === generation,
      );
      return await transport.getThreadState(run.threadId);
    },
    rejection,
  };

  const faults: unknown[] = [];
  const note = (error: unknown): void => void faults.push(error);
  await scenario(session).catch(note);
  for (const ending of await Promise.allSettled(open.map((watcher) => watcher.close()))) {
    if (ending.status === "rejected") note(ending.reason);
  }
  await Promise.resolve()
    .then(() => fixture.dispose())
    .catch(note);
  // What failed first is what happened; what failed while tidying up is told beside it.
  const [first, ...rest] = faults;
  if (rest.length > 0 && first instanceof Error) first.cause ??= new AggregateError(rest, "and then");
  if (faults.length > 0) throw first;
}
