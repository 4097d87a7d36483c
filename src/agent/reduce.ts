import type {
  MessageId,
  PaiThreadGenerationEvent,
  PaiThreadHead,
  PaiThreadMessageChunkEvent,
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  PaiWireUIMessage,
  RunId,
  RunStateDTO,
  ThreadId,
} from "./protocol.ts";
import { ReductionFault } from "./reduce-fault.ts";
import {
  type FrameOutcome,
  factsOf,
  type GenerationReplay,
  isModelMessageOf,
  openGeneration,
} from "./reduce-generation.ts";
import { malformed, malformedState } from "./reduce-malformed.ts";
import { withOverlay } from "./reduce-overlay.ts";
import { applySparse, type SparseEvent, upsert } from "./reduce-sparse.ts";
import type { AcceptedRun } from "./transport.ts";

type State = PaiThreadTransportState;
type Event = PaiThreadTransportEvent;
type DataChunk = Extract<PaiThreadMessageChunkEvent["chunk"], { readonly data: unknown }>;

/** What an event asks for: nothing, another look, a read of the state, or a repair. */
export type Verdict = "ignored" | "applied" | "refresh" | { readonly fault: string };

/** What tells an acceptance of a run. */
export type RunAcceptance = Pick<AcceptedRun, "runId" | "version">;

/** The raw state of one thread, reduced from its watch stream. */
export interface ThreadReduction {
  /** What is known, with the messages of an open generation as shells. Every change is another object. */
  readonly facts: State;
  /** Grows with everything that was never seen before: a sign that repairs lead somewhere. */
  readonly news: number;
  /** A new watch begins: the next event is a snapshot, and a replay comes in full. */
  attach(): void;
  /** One event of the watch, in order. */
  apply(event: unknown): Verdict;
  /**
   * Takes a state that was read. `live`: beside a watch, whose generation goes on and whose later facts are not
   * undone. Throws a `ReductionFault` for what is no state.
   */
  adopt(state: State, options: { live: boolean }): void;
  /** What is known of a run that was accepted, where nothing newer is. */
  accept(run: AcceptedRun): void;
  /**
   * Whether a run that was accepted will not go on although no end of it is known: the thread's incarnation is another
   * now, the run left the queue unadmitted, or a complete state that is not older than the acceptance is without it.
   */
  isGone(run: RunAcceptance): boolean;
  /** Whether this event would close the open generation, which has to be settled first. */
  closes(event: unknown): boolean;
  /** The complete raw state of this moment. Rejects with a `ReductionFault`. */
  read(): Promise<State>;
  /** As `read`, without waiting: texts of a running generation may trail. */
  peek(): State;
}

/** A thread of which nothing is known yet: an empty one. */
export function createThreadReduction(threadId: ThreadId): ThreadReduction {
  let facts = unknownState(threadId);
  let known = false;
  /** The revision of the last complete state; sparse facts may be newer, and say nothing of what they do not mention. */
  let stated = -1;
  const unqueued = new Set<RunId>();
  let awaitsSnapshot = false;
  let generation: GenerationReplay | undefined;
  let overlay: ReadonlyMap<MessageId, readonly DataChunk[]> = new Map();
  const gone = new Set<string>();
  let news = 0;
  const highest = new Map<string, number>();
  let latest: { readonly inputs: readonly unknown[]; readonly state: State } | undefined;

  const fault = (reason: string): Verdict => ({ fault: reason });
  const instance = (): string => facts.thread.version.threadInstanceId;
  const revision = (): number => facts.thread.version.revision;
  const runOf = (runId: RunId): RunStateDTO | undefined => facts.runs.find((run) => run.runId === runId);
  const findMessage = (id: MessageId): PaiWireUIMessage | undefined =>
    facts.messages.find((message) => message.id === id);

  function isNews(key: string, value: number): void {
    if (value <= (highest.get(key) ?? -1)) return;
    highest.set(key, value);
    news++;
  }

  function drop(): void {
    generation?.close();
    generation = undefined;
  }

  function take(state: State, keepGeneration: boolean): void {
    const before = instance();
    const now = state.thread.version.threadInstanceId;
    if (known && before !== now) {
      gone.add(before);
      overlay = new Map();
      drop();
    }
    gone.delete(now);
    if (!keepGeneration || generation?.runId !== state.activeRunId) drop();
    facts = generation === undefined ? state : { ...state, messages: generation.restore(state.messages) };
    known = true;
    stated = state.thread.version.revision;
    isNews(`revision ${now}`, revision());
  }

  function applySnapshot(state: State): Verdict {
    const { threadInstanceId, revision: stated } = state.thread.version;
    const first = awaitsSnapshot;
    awaitsSnapshot = false;
    if (!first && known) {
      if (gone.has(threadInstanceId)) return "ignored";
      if (threadInstanceId === instance() && stated < revision()) return "ignored";
    }
    take(state, !first);
    return "applied";
  }

  function applyFact(event: SparseEvent): Verdict {
    const version = event.type === "thread.head.changed" ? event.head.version : event.version;
    if (version.revision < revision()) return "ignored";
    // Its chunks are the authority; they would be written into a copy once more.
    if (event.type === "message.appended" && generation && isModelMessageOf(event.message, generation.runId))
      return "ignored";
    const before = facts;
    facts = applySparse(facts, event);
    if (event.type === "queue-item-removed" && event.reason !== "admitted") unqueued.add(event.runId);
    isNews(`revision ${instance()}`, revision());
    return overtakes(before, event) ? "refresh" : "applied";
  }

  /** A sparse fact may overtake the generation's own end: what that end would have said is read. */
  function overtakes(before: State, event: SparseEvent): boolean {
    if (event.type === "thread.head.changed") return event.reason === "deleted";
    if (event.type === "run.admitted") return generation !== undefined && generation.runId !== event.run.runId;
    if (event.type !== "run.updated" || event.run.status === "running") return false;
    return before.activeRunId === event.run.runId || generation?.runId === event.run.runId;
  }

  function applyGeneration(event: PaiThreadGenerationEvent): Verdict {
    switch (event.type) {
      case "generation.started":
        return start(event);
      case "generation.message.chunk":
        if (event.seq === 0) return applyLiveOnly(event);
        if (generation?.runId !== event.runId) return notOpen(event);
        return framed(generation.chunk(event, findMessage), event);
      case "generation.error":
      case "generation.aborted":
        if (generation?.runId !== event.runId) return notOpen(event);
        return framed(generation.end(event), event);
      case "generation.completed": {
        const open = generation?.runId === event.runId;
        if (!open && runOf(event.runId)?.status !== "running") return "ignored";
        if (open) commit();
        rise(event.version.revision);
        // What else it changed (what waits, the usage) no event says.
        return "refresh";
      }
      case "generation.failed":
        return fail(event);
    }
  }

  function start(event: Extract<PaiThreadGenerationEvent, { type: "generation.started" }>): Verdict {
    if (generation?.runId === event.runId) {
      return generation.isSame(event) ? "ignored" : fault(`run ${event.runId} was started again from other messages`);
    }
    if (generation !== undefined || facts.activeRunId !== event.runId || runOf(event.runId)?.status !== "running")
      return notOpen(event);
    generation = openGeneration(event);
    facts = { ...facts, messages: generation.restore(facts.messages) };
    return "applied";
  }

  /** An event of a run whose generation is not open: late, or a sign that something was missed. */
  function notOpen(event: PaiThreadGenerationEvent): Verdict {
    const run = runOf(event.runId);
    if (run !== undefined && run.status !== "running" && event.version.revision <= revision()) return "ignored";
    return fault(`${event.type} of run ${event.runId}, which is not the one that is generating`);
  }

  function framed(outcome: FrameOutcome, event: PaiThreadGenerationEvent): Verdict {
    if (outcome === "duplicate") return "ignored";
    if (outcome !== "taken" && "fault" in outcome) return outcome;
    if (outcome !== "taken") facts = { ...facts, messages: [...facts.messages, outcome.shell] };
    isNews(`run ${event.runId}`, generation?.seq ?? 0);
    return "applied";
  }

  function applyLiveOnly({ runId, messageId, chunk }: PaiThreadMessageChunkEvent): Verdict {
    const message = findMessage(messageId);
    if (message === undefined || factsOf(message)?.runId !== runId)
      return fault(`a live-only chunk for message ${messageId}, which run ${runId} does not have`);
    if (!chunk.type.startsWith("data-")) return fault(`a live-only chunk of type ${chunk.type}`);
    const shown = chunk as DataChunk;
    const others = (overlay.get(messageId) ?? []).filter(
      (each) => shown.id === undefined || each.type !== shown.type || each.id !== shown.id,
    );
    overlay = new Map(overlay).set(messageId, [...others, shown]);
    return "applied";
  }

  function fail(event: Extract<PaiThreadGenerationEvent, { type: "generation.failed" }>): Verdict {
    const run = runOf(event.runId);
    if (run === undefined) return "refresh";
    if (run.status !== "running" && generation?.runId !== event.runId) return "ignored";
    if (generation?.runId === event.runId) commit();
    const active = facts.activeRunId === event.runId;
    facts = {
      ...facts,
      thread: active ? { ...facts.thread, status: "failed" } : facts.thread,
      runs: upsert(facts.runs, { ...run, status: "failed", error: event.error }, ({ runId }) => runId),
      pending: facts.pending.filter(({ runId }) => runId !== event.runId),
      activeRunId: active ? null : facts.activeRunId,
      error: event.error,
    };
    rise(event.version.revision);
    return "applied";
  }

  /** What the generation wrote is the thread's from now on. */
  function commit(): void {
    if (generation === undefined) return;
    const { settled, runId } = generation;
    facts = { ...facts, messages: facts.messages.map((message) => settled.get(message.id) ?? message) };
    const owners = new Map(facts.messages.map((message) => [message.id, factsOf(message)?.runId]));
    overlay = new Map([...overlay].filter(([id]) => owners.get(id) !== runId));
    drop();
  }

  function rise(to: number): void {
    if (to > revision()) facts = { ...facts, thread: withRevision(facts.thread, to) };
    isNews(`revision ${instance()}`, to);
  }

  /** The same object for the same inputs, so that a state that did not change is seen not to. */
  function composed(at: State, written: ReadonlyMap<MessageId, PaiWireUIMessage>, over: typeof overlay): State {
    if (written.size === 0 && over.size === 0) return at;
    const inputs = [at, over, ...written.values()];
    if (latest?.inputs.length === inputs.length && inputs.every((input, index) => input === latest?.inputs[index]))
      return latest.state;
    const messages = at.messages.map((message) => {
      const current = written.get(message.id) ?? message;
      const shown = over.get(message.id);
      return shown === undefined ? current : withOverlay(current, shown);
    });
    latest = { inputs, state: { ...at, messages } };
    return latest.state;
  }

  return {
    get facts() {
      return facts;
    },
    get news() {
      return news;
    },
    attach() {
      awaitsSnapshot = true;
      overlay = new Map();
      drop();
    },
    apply(value) {
      const wrong = malformed(value);
      if (wrong !== undefined) return fault(wrong);
      const event = value as Event;
      if (event.type === "state.changed") return "refresh";
      if (event.type === "snapshot") return applySnapshot(event.state);
      if (!EVENTS.has(event.type)) return "ignored";
      if (awaitsSnapshot || !known) return fault(`${event.type} came before the first snapshot`);
      const version = event.type === "thread.head.changed" ? event.head.version : event.version;
      if (gone.has(version.threadInstanceId)) return "ignored";
      if (version.threadInstanceId !== instance())
        return fault(`${event.type} of incarnation ${version.threadInstanceId}, known is ${instance()}`);
      return event.type.startsWith("generation.")
        ? applyGeneration(event as PaiThreadGenerationEvent)
        : applyFact(event as SparseEvent);
    },
    adopt(state, { live }) {
      const wrong = malformedState(state);
      if (wrong !== undefined) throw new ReductionFault(`the state of thread ${threadId} is malformed: ${wrong}`);
      const { threadInstanceId, revision: stated } = state.thread.version;
      awaitsSnapshot = false;
      if (live && known && threadInstanceId === instance() && stated < revision()) return;
      if (!live) overlay = new Map();
      take(state, live);
    },
    accept({ runId, status, version }) {
      if (status !== "running") return;
      const run = runOf(runId);
      if (known && version.threadInstanceId === instance()) {
        // The watch has been there already.
        if (version.revision < revision() || (version.revision === revision() && run !== undefined)) return;
      }
      const runs = run === undefined ? facts.runs : upsert(facts.runs, { ...run, status }, (each) => each.runId);
      facts = { ...facts, thread: { ...facts.thread, status }, runs, activeRunId: runId };
    },
    isGone({ runId, version }) {
      if (facts.activeRunId === runId || runOf(runId) !== undefined) return false;
      if (facts.queue.items.some((item) => item.runId === runId)) return false;
      if (version.threadInstanceId !== instance()) return known;
      return unqueued.has(runId) || stated >= version.revision;
    },
    closes(event) {
      const { type, runId } = (event ?? {}) as { type?: unknown; runId?: unknown };
      return generation?.runId === runId && (type === "generation.completed" || type === "generation.failed");
    },
    async read() {
      for (;;) {
        const reading = generation;
        const [at, over] = [facts, overlay];
        try {
          return composed(at, (await reading?.settle()) ?? new Map(), over);
        } catch (error) {
          // What a generation that was dropped meanwhile could not reduce is nobody's fault any more.
          if (reading === generation) throw error;
        }
      }
    },
    peek: () => composed(facts, generation?.settled ?? new Map(), overlay),
  };
}

const EVENTS = new Set<string>([
  "generation.started",
  "generation.message.chunk",
  "generation.completed",
  "generation.failed",
  "generation.error",
  "generation.aborted",
  "message.appended",
  "run.admitted",
  "run.updated",
  "thread.head.changed",
  "queue-item-added",
  "queue-item-removed",
] satisfies Event["type"][]);

function withRevision(head: PaiThreadHead, revision: number): PaiThreadHead {
  return { ...head, version: { ...head.version, revision } };
}

function unknownState(threadId: ThreadId): State {
  return {
    thread: {
      id: threadId,
      title: null,
      status: "idle",
      metadata: {},
      version: { threadInstanceId: "", revision: -1 },
      createdAt: "",
      updatedAt: "",
    },
    messages: [],
    runs: [],
    pending: [],
    activeRunId: null,
    queue: { items: [] },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    capabilities: { send: true, retry: false, regenerate: false, rename: true, delete: true },
    error: null,
  };
}
