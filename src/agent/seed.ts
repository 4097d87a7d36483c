import { OptionInvalid } from "../errors.ts";
import { checkOptions, misuse } from "./mock-refusal.ts";
import type {
  AgentContract,
  FileId,
  MessageId,
  PaiMessageFacts,
  PaiMessageMetadata,
  PaiThreadHead,
  PaiThreadTransportState,
  PaiWireUIMessage,
  RunId,
  RunOperation,
  RunStateDTO,
  RunStatus,
  ThreadErrorRecord,
  ThreadId,
  UsageSummary,
} from "./protocol.ts";
import { checkFields, checkNativeParts, checkText } from "./script-checks.ts";
import { partsOf, type ScriptContext } from "./script-chunks.ts";
import { type ToolName, type ToolScripts, toolScripts } from "./script-types.ts";
import { pendingOf } from "./world-pending.ts";
import { createThreadRecord, threadState } from "./world-thread.ts";

export type NativePart<T extends AgentContract> = PaiWireUIMessage<T>["parts"][number];
/** A part, or the parts that belong to one thing: a waiting tool is two. */
export type SeedParts<T extends AgentContract> = readonly (NativePart<T> | readonly NativePart<T>[])[];

export interface MockFile {
  readonly fileId: FileId;
  readonly filename: string;
  readonly mediaType: string;
  readonly body: Blob;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a mock is seeded with. Threads and files are added, or replace those of the same id. */
export interface MockTransportSeed<T extends AgentContract = AgentContract> {
  readonly threads?: readonly PaiThreadTransportState<T>[];
  readonly files?: readonly MockFile[];
}
export type MockTransportSeedInput<T extends AgentContract = AgentContract> =
  | MockTransportSeed<T>
  | ((s: SeedBuilder<T>) => MockTransportSeed<T>);

interface MessageOptions<T extends AgentContract> {
  readonly id?: MessageId;
  readonly metadata?: Partial<T["metadata"]>;
  /** ISO 8601. */
  readonly createdAt?: string;
}

export interface SeedRunOptions<T extends AgentContract> {
  readonly threadId: ThreadId;
  readonly runId?: RunId;
  /** Default: `waiting` where a message has a pending action, else `completed`. */
  readonly status?: RunStatus;
  readonly initiator?: "send" | "trigger";
  readonly operation?: RunOperation;
  /** At least one input. */
  readonly messages: readonly PaiWireUIMessage<T>[];
  readonly metadata?: T["metadata"];
  /** Of a failed run. */
  readonly error?: Error;
}

export interface SeedThreadOptions<T extends AgentContract> {
  readonly title?: string | null;
  readonly metadata?: PaiThreadHead<T>["metadata"];
  readonly messages?: readonly PaiWireUIMessage<T>[];
  readonly runs?: readonly RunStateDTO<T>[];
  readonly usage?: UsageSummary;
  readonly error?: ThreadErrorRecord | null;
}

/** Builders of exact native state. */
export interface SeedBuilder<T extends AgentContract = AgentContract> {
  /** What the user said, or a trigger. */
  input(text: string, options?: MessageOptions<T> & { producer?: "user" | "trigger" }): PaiWireUIMessage<T>;
  /** Context that the lifecycle put in where it stands; role default `system`. */
  context(text: string, options?: MessageOptions<T> & { role?: "system" | "user" }): PaiWireUIMessage<T>;
  /** What the model wrote, or the lifecycle. */
  output(parts: SeedParts<T>, options?: MessageOptions<T> & { producer?: "model" | "lifecycle" }): PaiWireUIMessage<T>;
  /** A model message of any native parts. */
  assistant(parts: SeedParts<T>, options?: MessageOptions<T>): PaiWireUIMessage<T>;
  /** The message without a run. */
  standalone(message: PaiWireUIMessage<T>): PaiWireUIMessage<T>;
  run(options: SeedRunOptions<T>): { run: RunStateDTO<T>; messages: PaiWireUIMessage<T>[] };
  /** A thread; its pending actions, status and error follow from its messages and runs. */
  thread(threadId: ThreadId, options?: SeedThreadOptions<T>): PaiThreadTransportState<T>;
  file(fileId: FileId, file: Omit<MockFile, "fileId">): MockFile;
  text(text: string): NativePart<T>;
  tool<K extends ToolName<T>>(name: K): ToolScripts<T, K, NativePart<T>[]>;
}

export interface SeedContext<T extends AgentContract> extends ScriptContext {
  now(): string;
  readonly initialMetadata: T["metadata"];
}

/** The builders; what they make takes its names and times from the mock's own counts. */
export function createSeedBuilder<T extends AgentContract>(context: SeedContext<T>): SeedBuilder<T> {
  const message = (
    role: "user" | "assistant" | "system",
    producer: PaiMessageFacts["producer"],
    parts: readonly NativePart<T>[],
    options: MessageOptions<T> = {},
  ): PaiWireUIMessage<T> => {
    const id = options.id ?? context.ids.next("msg");
    context.ids.claim(id);
    const pai: PaiMessageFacts = { producer, createdAt: options.createdAt ?? context.now() };
    return { id, role, metadata: { ...options.metadata, pai } as PaiMessageMetadata<T>, parts: [...parts] };
  };
  const text = (content: string): NativePart<T> => ({
    type: "text",
    text: checkText("s.text()", content),
    state: "done",
  });
  const said = (what: string, content: string): NativePart<T>[] => [{ type: "text", text: checkText(what, content) }];
  return {
    input: (content, options) => message("user", options?.producer ?? "user", said("s.input()", content), options),
    context: (content, options) =>
      message(options?.role ?? "system", "lifecycle", said("s.context()", content), options),
    output: (parts, options) => message("assistant", options?.producer ?? "model", flat("s.output", parts), options),
    assistant: (parts, options) => message("assistant", "model", flat("s.assistant", parts), options),
    standalone: (given) => {
      const { runId: _, ...pai } = factsOf(given);
      return withFacts(given, { ...pai, producer: "standalone" });
    },
    run: (options) => seededRun(context, options),
    thread: (threadId, options = {}) => seededThread(context, threadId, options),
    file: (fileId, file) => ({ fileId, ...checkFields("s.file(id, file)", file, []) }),
    text,
    tool: (name) => toolScripts(name, (tool) => partsOf(context, tool) as NativePart<T>[]),
  };
}

function flat<T extends AgentContract>(what: string, parts: SeedParts<T>): NativePart<T>[] {
  return checkNativeParts(what, parts).flatMap((part) => part as NativePart<T> | NativePart<T>[]);
}

function factsOf<T extends AgentContract>(message: PaiWireUIMessage<T>): PaiMessageFacts {
  const facts = message.metadata?.pai;
  if (facts === undefined) {
    throw new OptionInvalid(
      `Message "${message.id}" has no metadata.pai: build seeded messages by s.input, s.context, s.output or s.assistant.`,
    );
  }
  return facts;
}

function withFacts<T extends AgentContract>(message: PaiWireUIMessage<T>, pai: PaiMessageFacts): PaiWireUIMessage<T> {
  return { ...message, metadata: { ...message.metadata, pai } as PaiMessageMetadata<T> };
}

const RUN_OPTIONS = ["threadId", "runId", "status", "initiator", "operation", "messages", "metadata", "error"];
const RUN_STATUSES: readonly RunStatus[] = ["queued", "running", "waiting", "completed", "failed", "aborted"];
const THREAD_OPTIONS = ["title", "metadata", "messages", "runs", "usage", "error"];

function seededRun<T extends AgentContract>(
  context: SeedContext<T>,
  options: SeedRunOptions<T>,
): { run: RunStateDTO<T>; messages: PaiWireUIMessage<T>[] } {
  checkOptions("s.run()", checkFields("s.run()", options, []), RUN_OPTIONS);
  checkFields("s.run()", options, ["threadId", "messages"]);
  const { threadId, initiator = "send", operation = "send" } = options;
  const input = options.messages.find(({ metadata }) => /^(user|trigger)$/.test(metadata?.pai.producer ?? ""));
  if (input === undefined) {
    throw new OptionInvalid(
      `s.run() for thread "${threadId}" has no input message. A run answers something: put s.input(text) among its messages.`,
      { threadId },
    );
  }
  const runId = options.runId ?? context.ids.next("run");
  context.ids.claim(runId);
  const messages = options.messages.map((message) => withFacts(message, { ...factsOf(message), runId }));
  const status = options.status ?? (pendingOf(messages).length > 0 ? "waiting" : "completed");
  if (!RUN_STATUSES.includes(status)) {
    throw misuse(`s.run() for thread "${threadId}": status is ${RUN_STATUSES.join(", ")}, not "${status}".`, {
      status,
    });
  }
  const over = status === "completed" || status === "failed" || status === "aborted";
  const run: RunStateDTO<T> = {
    runId,
    threadId,
    status,
    operation,
    initiator,
    metadata: options.metadata ?? context.initialMetadata,
    messageId: input.id,
    createdAt: context.now(),
    ...(over ? { finishedAt: context.now() } : {}),
    ...(status === "failed"
      ? { error: { message: options.error?.message ?? "The run failed.", runId, operation, messageId: input.id } }
      : {}),
  };
  return { run, messages };
}

function seededThread<T extends AgentContract>(
  context: SeedContext<T>,
  threadId: ThreadId,
  options: SeedThreadOptions<T>,
): PaiThreadTransportState<T> {
  checkText("s.thread(id)", threadId);
  checkOptions(`s.thread("${threadId}")`, options, THREAD_OPTIONS);
  const { messages = [], runs = [], title = null, usage } = options;
  const stray = runs.find((run) => run.threadId !== threadId);
  if (stray !== undefined) {
    throw misuse(
      `s.thread("${threadId}") has run "${stray.runId}", which s.run() made for thread "${stray.threadId}".`,
      { threadId, runId: stray.runId },
    );
  }
  const record = createThreadRecord<T>(threadId, "instance_1");
  const active = runs.filter(({ status }) => status === "running");
  if (active.length > 1) {
    throw new OptionInvalid(`s.thread("${threadId}") has ${active.length} running runs; one can run at a time.`, {
      threadId,
      runs: active.map(({ runId }) => runId),
    });
  }
  const pending = pendingOf(messages);
  const error = options.error !== undefined ? options.error : (runs.at(-1)?.error ?? null);
  const at = context.now();
  return {
    ...threadState(record),
    thread: {
      ...record.head,
      title,
      metadata: options.metadata ?? record.head.metadata,
      status: active.length > 0 ? "running" : error !== null ? "failed" : pending.length > 0 ? "waiting" : "idle",
      version: { threadInstanceId: "instance_1", revision: 1 },
      createdAt: at,
      updatedAt: at,
    },
    messages,
    runs,
    pending,
    activeRunId: active[0]?.runId ?? null,
    error,
    ...(usage === undefined ? {} : { usage }),
  };
}
