import type {
  FileRecord,
  PaiThreadHead,
  PaiThreadHeadEvent,
  PaiThreadTransportEvent,
} from "../../src/agent/protocol.ts";
import type { AcceptedRun, AgentClientTransport } from "../../src/agent/transport.ts";

type Event = PaiThreadTransportEvent;

/** A transport that answers from memory and writes down what it was asked: just enough to see what crosses a wire. */
export interface MemoryTransport extends AgentClientTransport {
  readonly calls: [method: string, ...args: unknown[]][];
  /** Watchers at the moment. */
  readonly watchers: number;
  /** Events that were taken from it. */
  readonly taken: number;
  push(threadId: string, event: Event | Record<string, unknown>): void;
  pushHead(event: PaiThreadHeadEvent): void;
  /** Ends the watches of a thread, with an error where one is given. */
  endWatches(threadId: string, error?: unknown): void;
  /** Has the next call of this name reject. */
  failNext(method: string, error: unknown): void;
}

const version = { threadInstanceId: "instance_1", revision: 1 };
const at = "2026-11-30T21:00:00.000Z";

export function headOf(id: string, title: string | null = null): PaiThreadHead {
  return { id, title, status: "idle", metadata: {}, version, createdAt: at, updatedAt: at };
}

/** Events handed on as they are pushed; nothing is ever dropped. */
function channel<E>(signal: AbortSignal | undefined, done: () => void, first: E[]) {
  const queue = [...first];
  let wake = (): void => undefined;
  let over: { error?: unknown } | undefined;
  const end = (why: { error?: unknown } = {}): void => {
    over ??= why;
    wake();
  };
  signal?.addEventListener("abort", () => end(), { once: true });
  if (signal?.aborted) end();
  async function* events(): AsyncGenerator<E, undefined> {
    try {
      while (true) {
        if (over !== undefined && (signal?.aborted || queue.length === 0)) {
          if ("error" in over) throw over.error;
          return undefined;
        }
        const event = queue.shift();
        if (event !== undefined) yield event;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      done();
    }
  }
  return {
    events,
    end,
    push(event: E): void {
      queue.push(event);
      wake();
    },
  };
}

export function memoryTransport(options: Partial<AgentClientTransport["supports"]> = {}): MemoryTransport {
  const calls: MemoryTransport["calls"] = [];
  const files = new Map<string, { file: FileRecord; body: Blob }>();
  const watches = new Map<ReturnType<typeof channel<Event>>, string>();
  const headWatches = new Set<ReturnType<typeof channel<PaiThreadHeadEvent>>>();
  const failures = new Map<string, unknown[]>();
  let taken = 0;

  function asked(method: string, ...args: unknown[]): void {
    calls.push([method, ...args]);
    const failure = failures.get(method);
    if (failure?.length) throw failure.shift();
  }
  const run = (threadId: string, n: number): AcceptedRun => {
    return { threadId, runId: `run_${n}`, messageId: `message_${n}`, status: "running", version };
  };
  const state = (id: string) => ({
    thread: headOf(id),
    messages: [],
    runs: [],
    pending: [],
    activeRunId: null,
    queue: { items: [] },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    capabilities: { send: true, retry: true, regenerate: true, rename: true, delete: true },
    error: null,
  });
  async function* counted<E>(events: AsyncGenerator<E, undefined>): AsyncGenerator<E, undefined> {
    for await (const event of events) {
      taken++;
      yield event;
    }
    return undefined;
  }

  return {
    supports: { watch: true, heads: true, files: true, commands: true, regeneration: true, ...options },
    calls,
    get watchers() {
      return watches.size + headWatches.size;
    },
    get taken() {
      return taken;
    },
    push(threadId, event) {
      for (const [watch, id] of watches) if (id === threadId) watch.push(event as Event);
    },
    pushHead(event) {
      for (const watch of headWatches) watch.push(event);
    },
    endWatches(threadId, ...error) {
      for (const [watch, id] of watches) if (id === threadId) watch.end(error.length > 0 ? { error: error[0] } : {});
    },
    failNext(method, error) {
      failures.set(method, [...(failures.get(method) ?? []), error]);
    },
    async send(input) {
      asked("send", input);
      return run(input.threadId, calls.length);
    },
    async retry(input) {
      asked("retry", input);
      return run(input.threadId, calls.length);
    },
    async regenerate(input) {
      asked("regenerate", input);
      return run(input.threadId, calls.length);
    },
    async submitAction(input) {
      asked("submitAction", input);
      return input.output === undefined ? {} : { run: run(input.threadId, calls.length) };
    },
    watchThread(threadId, { includeInitial, signal } = {}) {
      asked("watchThread", threadId, includeInitial);
      const first: Event[] = includeInitial === false ? [] : [{ type: "snapshot", state: state(threadId) }];
      const watch = channel<Event>(signal, () => watches.delete(watch), first);
      watches.set(watch, threadId);
      return counted(watch.events());
    },
    watchThreadHeads({ signal } = {}) {
      asked("watchThreadHeads");
      const watch = channel<PaiThreadHeadEvent>(signal, () => headWatches.delete(watch), [
        { type: "snapshot", heads: [headOf("a"), headOf("b")] },
      ]);
      headWatches.add(watch);
      return counted(watch.events());
    },
    async getThreadState(threadId) {
      asked("getThreadState", threadId);
      return state(threadId);
    },
    async listThreads() {
      asked("listThreads");
      return [headOf("a"), headOf("b", "Bee")];
    },
    async getManifest() {
      asked("getManifest");
      return { name: "memory", tools: {}, commands: ["double"], extra: { kept: true } };
    },
    async renameThread({ threadId, title }) {
      asked("renameThread", { threadId, title });
      return headOf(threadId, title);
    },
    async deleteThread(threadId) {
      asked("deleteThread", threadId);
    },
    async uploadFile({ body, ...rest }) {
      asked("uploadFile", rest);
      const file = { fileId: `file_${files.size + 1}`, size: body.size, ...rest };
      files.set(file.fileId, { file, body });
      return file;
    },
    async readFile(fileId) {
      asked("readFile", fileId);
      const found = files.get(fileId);
      if (found === undefined) throw Object.assign(new Error(`There is no file "${fileId}".`), { status: 404 });
      return found;
    },
    async createFileUrl(fileId) {
      asked("createFileUrl", fileId);
      return files.has(fileId) ? `memory:${fileId}` : null;
    },
    async executeCommand({ threadId, name, input }) {
      asked("executeCommand", { threadId, name, input });
      return name === "nothing" ? undefined : { name, input };
    },
    async writeToolData(input) {
      asked("writeToolData", input);
    },
  };
}
