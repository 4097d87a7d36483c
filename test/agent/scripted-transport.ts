import type {
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  PaiWireUIMessage,
  RunStateDTO,
} from "../../src/agent/protocol.ts";
import type { AcceptedRun, AgentClientTransport } from "../../src/agent/transport.ts";

export type Event = PaiThreadTransportEvent;
export type State = PaiThreadTransportState;

const at = "2026-01-01T00:00:00.000Z";

export function version(revision: number, threadInstanceId = "instance_1") {
  return { threadInstanceId, revision };
}

export function stateOf(revision: number, rest: Partial<State> = {}, status?: State["thread"]["status"]): State {
  return {
    thread: {
      id: "thread-1",
      title: null,
      status: status ?? (rest.activeRunId ? "running" : "idle"),
      metadata: {},
      version: version(revision),
      createdAt: at,
      updatedAt: at,
    },
    messages: [],
    runs: [],
    pending: [],
    activeRunId: null,
    queue: { items: [] },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    capabilities: { send: true, retry: true, regenerate: true, rename: true, delete: true },
    error: null,
    ...rest,
  };
}

export function runOf(status: RunStateDTO["status"], runId = "run_1"): RunStateDTO {
  return {
    runId,
    threadId: "thread-1",
    status,
    operation: "send",
    initiator: "send",
    metadata: {},
    messageId: "user_1",
    createdAt: at,
  };
}

export function user(text: string, id = "user_1", runId = "run_1"): PaiWireUIMessage {
  return {
    id,
    role: "user",
    metadata: { pai: { runId, producer: "user", createdAt: at } },
    parts: [{ type: "text", text }],
  };
}

export function modelMessage(parts: readonly object[], id = "msg_1", runId = "run_1"): PaiWireUIMessage {
  return {
    id,
    role: "assistant",
    metadata: { pai: { runId, producer: "model", createdAt: at } },
    parts,
  } as PaiWireUIMessage;
}

export const textPart = (text: string, state: "streaming" | "done" = "done") =>
  ({ type: "text", text, state, providerMetadata: undefined }) as const;

/** The frames of a generation, numbered from 1. */
export function frames(
  chunks: readonly object[],
  { revision = 2, runId = "run_1", messageId = "msg_1", from = 1 } = {},
) {
  return chunks.map(
    (chunk, index) =>
      ({
        type: "generation.message.chunk",
        version: version(revision),
        runId,
        seq: from + index,
        messageId,
        chunk,
      }) as Event,
  );
}

export const start = (messageId = "msg_1", runId = "run_1", createdAt = at) => ({
  type: "start",
  messageId,
  messageMetadata: { pai: { runId, producer: "model", createdAt } },
});

export const delta = (text: string, id = "t1") => ({ type: "text-delta", id, delta: text });

export function started(baseMessages: PaiWireUIMessage[] = [], runId = "run_1", revision = 2): Event {
  return { type: "generation.started", version: version(revision), runId, seq: 0, baseMessages };
}

/** `close`: the backend ends the watch; an error: it breaks; a function is called; anything else is what the watch yields. */
export type Step = Event | "close" | Error | (() => void) | object | string | number | null;

export interface ScriptedTransport extends AgentClientTransport {
  /** What `getThreadState` answers: the truth. */
  truth: State;
  readonly calls: string[];
  /** What the next watches play. */
  readonly scripts: Step[][];
  /** Sends an event to the watches that are open. */
  push(step: Step): void;
}

/** A transport whose watches play scripts: the first attach the first, and so on; after the last, a snapshot of the truth. */
export function scriptedTransport(truth: State, ...scripts: readonly Step[][]): ScriptedTransport {
  const calls: string[] = [];
  const open = new Set<(step: Step) => void>();
  const waiting = [...scripts];
  const accepted = (): AcceptedRun => ({
    threadId: "thread-1",
    runId: transport.truth.activeRunId ?? "run_1",
    messageId: "user_1",
    status: "running",
    version: transport.truth.thread.version,
  });
  const told = <R>(name: string, answer: () => R) => {
    return async (input?: unknown): Promise<R> => {
      calls.push(input === undefined || typeof input === "string" ? name : `${name} ${JSON.stringify(input)}`);
      return structuredClone(answer());
    };
  };
  const file = { fileId: "file_1", filename: "a.txt", mediaType: "text/plain", size: 1 };
  const transport: ScriptedTransport = {
    truth,
    calls,
    scripts: waiting,
    push(step) {
      for (const take of open) take(step);
    },
    supports: { watch: true, heads: true, files: true, commands: true, regeneration: true },
    send: told("send", accepted),
    retry: told("retry", accepted),
    regenerate: told("regenerate", accepted),
    submitAction: told("submitAction", () => ({ run: accepted() })),
    getThreadState: told("getThreadState", () => transport.truth),
    listThreads: told("listThreads", () => [transport.truth.thread]),
    getManifest: told("getManifest", () => ({ name: "support", tools: {}, commands: [] })),
    renameThread: told("renameThread", () => ({
      ...transport.truth.thread,
      title: "New",
      version: version(transport.truth.thread.version.revision + 1),
    })),
    deleteThread: told("deleteThread", () => undefined),
    uploadFile: told("uploadFile", () => file),
    readFile: told("readFile", () => ({ file, body: new Blob(["a"]) })),
    createFileUrl: told("createFileUrl", () => null),
    executeCommand: told("executeCommand", () => "done"),
    writeToolData: told("writeToolData", () => undefined),
    async *watchThreadHeads() {
      calls.push("watchThreadHeads");
      yield { type: "snapshot", heads: [transport.truth.thread] };
    },
    watchThread(_, { signal } = {}) {
      calls.push("watchThread");
      const steps: Step[] = waiting.shift() ?? [{ type: "snapshot", state: structuredClone(transport.truth) }];
      return play([...steps], open, signal);
    },
  };
  return transport;
}

async function* play(steps: Step[], open: Set<(step: Step) => void>, signal?: AbortSignal): AsyncGenerator<Event> {
  let wake = (): void => undefined;
  const take = (step: Step): void => {
    steps.push(step);
    wake();
  };
  const stop = (): void => wake();
  open.add(take);
  signal?.addEventListener("abort", stop);
  try {
    while (!signal?.aborted) {
      const step = steps.shift();
      if (step === "close") return;
      if (step instanceof Error) throw step;
      if (typeof step === "function") {
        step();
        continue;
      }
      if (step === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield step as Event;
    }
  } finally {
    open.delete(take);
    signal?.removeEventListener("abort", stop);
  }
}
