import { isWiretapeError } from "../errors.ts";
import { projectState, type ThreadState } from "./project.ts";
import type { PaiThreadHead, PaiThreadTransportState, ThreadId } from "./protocol.ts";
import { createThreadReduction, type RunAcceptance } from "./reduce.ts";
import { AgentWatchFailed, ReductionFault } from "./reduce-fault.ts";
import type { AcceptedRun, AgentClientTransport } from "./transport.ts";

/** Time, for waiting between attempts. */
export interface ClientClock {
  /** Milliseconds. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** What a listener is told of. `ended`: the backend closed the watch while nothing was generating. */
export type LiveChange =
  | { readonly type: "changed" }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: unknown };

export interface Listener {
  /** Called in order, synchronously. */
  notify(change: LiveChange): void;
  /** Whether the backend closing an idle watch is no end: it is watched again. */
  readonly insists: boolean;
}

/** One thread as a client has it: what is known, and one watch for all who want to know more. */
export interface LiveThread {
  readonly facts: PaiThreadTransportState;
  /** Whether a watch runs that has had its snapshot. */
  readonly attached: boolean;
  /** Whether a run that was accepted will not go on although no end of it is known. */
  isGone(run: RunAcceptance): boolean;
  /** Keeps the watch going, and starts it where there is none; the returned function lets go. */
  listen(listener: Listener): () => void;
  /** Reads the state anew. */
  refresh(): Promise<ThreadState>;
  /** Makes known what a call changed: by the watch where there is one, else by reading the state. Never rejects. */
  called(run?: AcceptedRun): Promise<void>;
  /** Makes a head known. */
  headed(head: PaiThreadHead): void;
  /** The complete state of this moment; `undefined` where it turned out that the watch has to be repaired first. */
  read(): Promise<ThreadState | undefined>;
  peek(): ThreadState;
}

/** This many repairs in a row lead nowhere. */
const PATIENCE = 5;
/** A watch that held longer than this, in milliseconds, did not break rapidly. */
const RAPID_MS = 5000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
const POLL_MS = 250;

/** Watches nothing until somebody listens. */
export function createLiveThread(transport: AgentClientTransport, threadId: ThreadId, clock: ClientClock): LiveThread {
  const reduction = createThreadReduction(threadId);
  const listeners = new Set<Listener>();
  let watching: AbortController | undefined;
  let attached = false;
  let interrupt: (() => void) | undefined;
  let found: ReductionFault | undefined;
  const projected = new WeakMap<PaiThreadTransportState, ThreadState>();

  function tell(change: LiveChange): void {
    for (const listener of [...listeners]) listener.notify(change);
  }

  function project(raw: PaiThreadTransportState): ThreadState {
    const state = projected.get(raw) ?? projectState(raw);
    projected.set(raw, state);
    return state;
  }

  /** With `stop` for a watch: once nobody listens any more nothing is asked, and no answer disturbs the watch after it. */
  async function fetchState(live: boolean, stop?: AbortSignal): Promise<void> {
    if (stop?.aborted) return;
    const state = await transport.getThreadState(threadId);
    if (stop?.aborted) return;
    reduction.adopt(state, { live: live && attached });
    tell({ type: "changed" });
  }

  const generating = (): boolean => {
    const { activeRunId, runs } = reduction.facts;
    return activeRunId !== null && runs.find(({ runId }) => runId === activeRunId)?.status !== "waiting";
  };

  /** Reads events until the watch has to be begun anew, or is over. */
  async function attach(stop: AbortSignal, strikes: Strikes): Promise<"again" | "closed"> {
    if (stop.aborted) return "closed";
    const closing = new AbortController();
    const close = (): void => closing.abort();
    stop.addEventListener("abort", close);
    reduction.attach();
    attached = false;
    found = undefined;
    let iterator: AsyncIterator<unknown> | undefined;
    try {
      iterator = transport.watchThread(threadId, { signal: closing.signal })[Symbol.asyncIterator]();
      for (;;) {
        const next = await nextOf(iterator, stop);
        if (stop.aborted) return "closed";
        if (next?.done) {
          await strikes.count("the watch stream closed");
          await fetchState(false, stop);
          return generating() || [...listeners].some(({ insists }) => insists) ? "again" : "closed";
        }
        // A reader may find another one while this event is reduced: that is the next turn's.
        const fault = takeFound() ?? (await reduce(next?.value, stop));
        if (stop.aborted) return "closed";
        if (fault === undefined) continue;
        await strikes.count(fault.message);
        await fetchState(false, stop);
        // Without a generation, the rest of the stream is what happens next.
        if (generating() || next === undefined) return "again";
      }
    } finally {
      if (watching?.signal === stop) {
        attached = false;
        interrupt = undefined;
      }
      stop.removeEventListener("abort", close);
      close();
      // The watch is over: what its end throws concerns nobody.
      iterator?.return?.().catch(() => undefined);
    }
  }

  function takeFound(): ReductionFault | undefined {
    const fault = found;
    found = undefined;
    return fault;
  }

  /** The next result of the watch; `undefined` when a reader found a fault first. */
  function nextOf(iterator: AsyncIterator<unknown>, stop: AbortSignal): Promise<IteratorResult<unknown> | undefined> {
    return new Promise((resolve, reject) => {
      if (found !== undefined || stop.aborted) {
        resolve(undefined);
        return;
      }
      interrupt = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
  }

  async function reduce(event: unknown, stop: AbortSignal): Promise<ReductionFault | undefined> {
    try {
      if (reduction.closes(event)) await reduction.read();
    } catch (error) {
      if (error instanceof ReductionFault) return error;
      throw error;
    }
    if (stop.aborted) return undefined;
    const verdict = reduction.apply(event);
    if (typeof verdict === "object") return new ReductionFault(verdict.fault);
    attached = true;
    if (verdict === "refresh") await fetchState(true, stop);
    else if (verdict === "applied") tell({ type: "changed" });
    return undefined;
  }

  /** What stands for a watch where the transport has none. */
  async function poll(stop: AbortSignal): Promise<"closed"> {
    while (!stop.aborted) {
      await fetchState(false, stop);
      if (stop.aborted) break;
      attached = true;
      tell({ type: "changed" });
      await clock.sleep(POLL_MS, stop);
    }
    return "closed";
  }

  async function watch(stop: AbortSignal): Promise<void> {
    const strikes = createStrikes(threadId, reduction, clock, stop);
    try {
      for (;;) {
        try {
          const end = await (transport.supports.watch ? attach(stop, strikes) : poll(stop));
          if (end === "closed") break;
        } catch (error) {
          if (stop.aborted) break;
          if (isWiretapeError(error) || error instanceof AgentWatchFailed) throw error;
          await strikes.count(error instanceof Error ? error.message : String(error), error);
        }
      }
      if (stop.aborted) return;
      watching = undefined;
      tell({ type: "ended" });
    } catch (error) {
      if (stop.aborted) return;
      watching = undefined;
      tell({ type: "failed", error });
    }
  }

  async function read(): Promise<ThreadState | undefined> {
    try {
      return project(await reduction.read());
    } catch (error) {
      if (!(error instanceof ReductionFault)) throw error;
      // Where nobody watches any more there is nothing to repair: the next watch begins with a snapshot.
      found = error;
      interrupt?.();
      return undefined;
    }
  }
  const peek = (): ThreadState => project(reduction.peek());

  return {
    get facts() {
      return reduction.facts;
    },
    get attached() {
      return attached;
    },
    isGone: (run) => reduction.isGone(run),
    listen(listener) {
      listeners.add(listener);
      if (watching === undefined) {
        watching = new AbortController();
        void watch(watching.signal);
      }
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        attached = false;
        watching?.abort();
        watching = undefined;
        interrupt?.();
        interrupt = undefined;
      };
    },
    async refresh() {
      await fetchState(true);
      return (await read()) ?? peek();
    },
    async called(run) {
      if (!attached) {
        try {
          await fetchState(true);
          return;
        } catch {
          // The call was accepted, whatever became of the read: its caller must not make it again.
        }
      }
      if (run === undefined) return;
      reduction.accept(run);
      tell({ type: "changed" });
    },
    headed(head) {
      const change = { type: "thread.head.changed", reason: "attributes", head };
      if (reduction.apply(change) === "applied") tell({ type: "changed" });
    },
    read,
    peek,
  };
}

interface Strikes {
  /** One more repair: pauses before all but the first of a row, rejects with `AgentWatchFailed` at the end of patience. */
  count(fault: string, cause?: unknown): Promise<void>;
}

function createStrikes(
  threadId: ThreadId,
  reduction: { readonly news: number },
  clock: ClientClock,
  stop: AbortSignal,
): Strikes {
  let faults: string[] = [];
  let news = reduction.news;
  let since = clock.now();
  return {
    async count(fault, cause) {
      const held = clock.now() - since;
      if (reduction.news > news || held > RAPID_MS) faults = [];
      news = reduction.news;
      faults.push(fault);
      if (faults.length > PATIENCE) throw new AgentWatchFailed(threadId, faults, cause === undefined ? {} : { cause });
      if (faults.length > 1) {
        await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (faults.length - 2), LONGEST_PAUSE_MS), stop);
      }
      since = clock.now();
    },
  };
}
