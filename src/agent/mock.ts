import type { FlatEvent } from "../pattern.ts";
import { createTraceLog, type TraceLog, type TraceSource } from "../trace-gate.ts";
import { type AgentClient, createAgentClient } from "./client.ts";
import { admission } from "./mock-admission.ts";
import { createMockEvents, type MockEventController } from "./mock-events.ts";
import { headChanged } from "./mock-head.ts";
import { inspectWorld, type MockInspectionController } from "./mock-inspect.ts";
import { createOperations } from "./mock-operations.ts";
import { checkOptions, misuse, refusal } from "./mock-refusal.ts";
import { createResponseLine, type MockResponseController } from "./mock-responses.ts";
import { createMockRun, type MockRun } from "./mock-run.ts";
import type {
  AgentContract,
  AgentManifest,
  FileRecord,
  PaiThreadTransportState,
  RunId,
  ThreadId,
  ToolProvenance,
} from "./protocol.ts";
import { checkBlob, checkFields, checkText } from "./script-checks.ts";
import { createSeedBuilder, type MockFile, type MockTransportSeed, type MockTransportSeedInput } from "./seed.ts";
import type { AgentClientTransport, UploadInput } from "./transport.ts";
import { createWorld, type World } from "./world.ts";
import type { OperationName } from "./world-requests.ts";

/** A command's handler: what the client passes, and what it is answered. */
export type MockCommandHandler<T extends AgentContract, K extends keyof T["commands"] & string> = (call: {
  readonly input: T["commands"][K]["input"];
  readonly threadId: ThreadId;
}) => T["commands"][K]["output"] | Promise<T["commands"][K]["output"]>;

export interface MockCommandController<T extends AgentContract = AgentContract> {
  /** Registers a command, or replaces it. Commands outlive `reset`. */
  set<K extends keyof T["commands"] & string>(name: K, handler: MockCommandHandler<T, K>): void;
}
export interface MockFileController {
  /** Puts a file into the store, or replaces the one of this id. */
  add(file: MockFile): FileRecord;
}

interface MockOptionsBase {
  /** What `client.getManifest()` answers, and where tools have their provenance from. */
  readonly manifest?: AgentManifest;
  /** Provenance of tools that the manifest does not describe. It wins over the manifest's. */
  readonly registeredToolMetadata?: ReadonlyMap<string, ToolProvenance>;
  /** What `createFileUrl` answers: a `mock:` URL (default), or `null`. */
  readonly fileUrls?: "mock" | "none";
  /** Where gates of responses look beside the mock's own trace. `false`: nowhere, and they are open, with a warning. */
  readonly trace?: TraceSource;
  /** The time of what happens, ISO 8601; default: one second later each time, from a fixed start. */
  readonly now?: () => string;
}
/** `initialMetadata`: of every run that is created here; required where the contract's metadata has required keys. */
export type MockAgentOptions<T extends AgentContract> = MockOptionsBase &
  (Record<never, never> extends T["metadata"]
    ? { readonly initialMetadata?: T["metadata"] }
    : { readonly initialMetadata: T["metadata"] });
/** The options of a mock as its last argument: they may be left out where none is required. */
export type MockAgentArguments<T extends AgentContract> =
  Record<never, never> extends T["metadata"] ? [options?: MockAgentOptions<T>] : [options: MockAgentOptions<T>];

/** The controls of a mock. Clients know nothing of them. */
export interface MockAgentControls<T extends AgentContract = AgentContract> {
  /** Adds threads and files, or replaces those of the same id. */
  seed(seed: MockTransportSeedInput<T>): void;
  /** Clears the store, the responses, the watches, the request log and the names; then seeds. */
  reset(seed?: MockTransportSeedInput<T>): void;
  readonly responses: MockResponseController<T>;
  readonly events: MockEventController<T>;
  readonly commands: MockCommandController<T>;
  readonly files: MockFileController;
  readonly inspect: MockInspectionController<T>;
  /** What was asked of the backend, in order: `{ kind: "call", boundary: "agent", op, thread? }`. Gates look at it. */
  readonly trace: readonly FlatEvent[];
}
/** A transport over a backend in memory that a test controls. */
export type MockAgentTransport<T extends AgentContract = AgentContract> = AgentClientTransport<T> &
  MockAgentControls<T>;

const OPTIONS = ["manifest", "initialMetadata", "registeredToolMetadata", "fileUrls", "trace", "now"];

/**
 * A deterministic backend: the same program and the same script give the same names, times, states and events. It calls
 * no model, runs no tool and enforces no lock.
 */
export function createMockAgentTransport<T extends AgentContract = AgentContract>(
  ...[options = {} as MockAgentOptions<T>]: MockAgentArguments<T>
): MockAgentTransport<T> {
  checkOptions("createMockAgentTransport", options, OPTIONS);
  const { manifest = { name: "mock", tools: {}, commands: [] }, registeredToolMetadata, fileUrls = "mock" } = options;
  if (fileUrls !== "mock" && fileUrls !== "none") {
    throw misuse(`fileUrls is "mock" or "none", not ${JSON.stringify(fileUrls)}.`, { fileUrls });
  }
  checkFields("createMockAgentTransport's manifest", manifest, ["tools"]);
  if (registeredToolMetadata !== undefined && typeof registeredToolMetadata.get !== "function")
    throw misuse("registeredToolMetadata is a Map: new Map([[toolName, { executor, toolId }]]).");
  const trace = createTraceLog(options.trace, "createMockAgentTransport");
  const world = createWorld<T>(options.now === undefined ? {} : { now: options.now });
  const context = {
    ids: world.ids,
    now: () => world.now(),
    initialMetadata: (options.initialMetadata ?? {}) as T["metadata"],
    provenance: (name: string): ToolProvenance | undefined =>
      registeredToolMetadata?.get(name) ?? (Object.hasOwn(manifest.tools, name) ? manifest.tools[name] : undefined),
  };
  const line = createResponseLine<T>(context, trace);
  const runs = new Map<ThreadId, MockRun>();
  const handlers = new Map<string, MockCommandHandler<T, never>>();

  const begin = (threadId: ThreadId, runId: RunId): void => {
    const run = createMockRun(world, { threadId, runId }, (next) => begin(threadId, next));
    runs.set(threadId, run);
    line.admit(run);
  };
  const runOf = (threadId: ThreadId, runId: RunId): MockRun | undefined => {
    const run = runs.get(threadId);
    return run?.runId === runId && !run.over ? run : undefined;
  };
  const fileUrl = (fileId: string): string => `mock://files/${encodeURIComponent(fileId)}`;
  const addFile = (what: string, file: MockFile): FileRecord => {
    const { fileId, filename, mediaType, body, metadata } = checkFields(what, file, ["filename", "mediaType", "body"]);
    checkText(`"fileId" of ${what}`, fileId);
    checkBlob(what, body);
    world.ids.claim(fileId);
    const about = metadata === undefined ? {} : { metadata };
    return world.files.add({ fileId, filename, mediaType, size: body.size, ...about }, body);
  };
  const seed = (input: MockTransportSeedInput<T>): void => {
    const given = typeof input === "function" ? input(createSeedBuilder<T>(context)) : input;
    const { threads = [], files = [] } = checkSeed<T>(given);
    for (const thread of threads) plant(world, thread, begin);
    for (const file of files) addFile("seed()", file);
  };
  const known = (threadId: ThreadId): void => {
    if (!world.has(threadId)) throw refusal(`There is no thread "${threadId}".`);
  };
  const fileOf = (fileId: string): { file: FileRecord; body: Blob } => {
    const found = world.files.get(fileId);
    if (found === undefined) throw refusal(`There is no file "${fileId}".`);
    return found;
  };

  const transport: AgentClientTransport<T> = {
    supports: { watch: true, heads: true, files: true, commands: true, regeneration: true },
    ...createOperations({ world, initialMetadata: context.initialMetadata, fileUrl, begin, runOf }),
    watchThread: (threadId, how) => world.watch(threadId, how),
    watchThreadHeads: (how) => world.watchHeads(how),
    getThreadState: async (threadId) => world.state(threadId),
    listThreads: async () => world.heads(),
    getManifest: async () => structuredClone(manifest),
    async renameThread({ threadId, title }) {
      known(threadId);
      const changed = { title, updatedAt: world.now() };
      await world.commit(threadId, ({ head, version }) => [headChanged(head, version, changed, "attributes")]);
      return world.state(threadId).thread;
    },
    async deleteThread(threadId) {
      known(threadId);
      world.remove(threadId);
    },
    uploadFile: async (input: UploadInput) => addFile("uploadFile()", { ...input, fileId: world.ids.next("file") }),
    readFile: async (fileId) => fileOf(fileId),
    async createFileUrl(fileId) {
      fileOf(fileId);
      return fileUrls === "mock" ? fileUrl(fileId) : null;
    },
    async executeCommand({ threadId, name, input }) {
      const handler = handlers.get(name);
      if (handler === undefined) {
        throw refusal(
          `There is no command "${name}". In a test, register it: mock.commands.set(${JSON.stringify(name)}, handler).`,
        );
      }
      return await handler({ input: input as never, threadId });
    },
  };

  return {
    ...logged(world, transport, trace),
    seed,
    reset(next) {
      line.reset();
      runs.clear();
      world.clear();
      if (next !== undefined) seed(next);
    },
    responses: line.controller,
    events: createMockEvents(world, (threadId, runId) => {
      return runOf(threadId, runId) ?? createMockRun(world, { threadId, runId }, (next) => begin(threadId, next));
    }),
    commands: {
      set(name, handler) {
        if (typeof handler !== "function") throw misuse(`commands.set("${name}", handler) takes a function.`, { name });
        handlers.set(name, handler as unknown as MockCommandHandler<T, never>);
      },
    },
    files: { add: (file) => addFile("files.add()", file) },
    inspect: inspectWorld(world),
    trace: trace.events,
  };
}

/** A mock, and the real client over it. */
export interface MockAgentClient<T extends AgentContract = AgentContract> extends MockAgentControls<T> {
  readonly client: AgentClient<T>;
  readonly transport: MockAgentTransport<T>;
}

/** A mock with its controls next to a client. */
export function createMockAgentClient<T extends AgentContract = AgentContract>(
  ...options: MockAgentArguments<T>
): MockAgentClient<T> {
  const transport = createMockAgentTransport<T>(...options);
  const { seed, reset, responses, events, commands, files, inspect, trace } = transport;
  return {
    client: createAgentClient<T>(transport),
    transport,
    seed,
    reset,
    responses,
    events,
    commands,
    files,
    inspect,
    trace,
  };
}

function checkSeed<T extends AgentContract>(given: MockTransportSeed<T> | undefined): MockTransportSeed<T> {
  const seed = checkFields("seed() (or its callback, which returns the seed)", given, []);
  checkOptions("A seed", seed, ["threads", "files"]);
  for (const [name, list] of Object.entries(seed)) {
    if (list !== undefined && !Array.isArray(list)) throw misuse(`"${name}" of a seed is a list.`, { name });
  }
  for (const { thread, messages } of (seed.threads ?? []) as readonly Partial<PaiThreadTransportState<T>>[]) {
    if (typeof thread?.id !== "string" || !Array.isArray(messages))
      throw misuse("A thread of a seed is a whole state, as s.thread(id, { … }) makes it.");
  }
  return seed;
}

/** Puts a seeded thread into the world. One that is running waits for a response as if it had been sent to. */
function plant<T extends AgentContract>(
  world: World<T>,
  thread: PaiThreadTransportState<T>,
  begin: (threadId: ThreadId, runId: RunId) => void,
): void {
  const threadId = thread.thread.id;
  const names = [
    ...thread.messages.map(({ id }) => id),
    ...thread.runs.map(({ runId }) => runId),
    ...thread.pending.map(({ actionId }) => actionId),
    ...thread.messages.flatMap(({ parts }) => parts.map((part) => (part as { toolCallId?: string }).toolCallId)),
  ];
  for (const name of names) if (name !== undefined) world.ids.claim(name);
  world.load(thread);
  const active = thread.runs.find(({ runId }) => runId === thread.activeRunId);
  if (active === undefined) return;
  void world.commit(threadId, (point) =>
    admission(world, point, { run: active }).filter(({ type }) => type === "generation.started"),
  );
  begin(threadId, active.runId);
}

/** The transport, with each call in the world's log and in the trace. */
function logged<T extends AgentContract>(
  world: World<T>,
  transport: AgentClientTransport<T>,
  trace: TraceLog,
): AgentClientTransport<T> {
  const { supports, ...operations } = transport;
  const entries = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: unknown[]): unknown => {
      world.requests.add(name as OperationName, args[0]);
      const thread = (args[0] as { threadId?: ThreadId } | undefined)?.threadId ?? args[0];
      const about = typeof thread === "string" && name !== "readFile" && name !== "createFileUrl" ? { thread } : {};
      trace.log({ kind: "call", boundary: "agent", op: name, ...about });
      return (operation as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return { supports, ...Object.fromEntries(entries) } as AgentClientTransport<T>;
}
