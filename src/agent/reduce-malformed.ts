type Loose = Readonly<Record<string, unknown>>;
type Check = (event: Loose) => string | undefined;

/**
 * What is wrong with the shape of an event, or `undefined`. Only what the reduction relies on is looked at; unknown
 * fields, and events of types that are not known here, are nobody's fault.
 */
export function malformed(event: unknown): string | undefined {
  if (!isObject(event)) return `an event that is ${describe(event)}, not an object`;
  if (typeof event.type !== "string") return "an event without a type";
  const check = CHECKS.get(event.type);
  const wrong = check?.(event);
  return wrong === undefined ? undefined : `a malformed ${event.type}: ${wrong}`;
}

/** As `malformed`, for a state as `getThreadState()` and snapshots have it. */
export function malformedState(state: unknown): string | undefined {
  if (!isObject(state)) return "state is no object";
  for (const key of ["messages", "runs", "pending"]) if (!Array.isArray(state[key])) return `state.${key} is no array`;
  if (!isObject(state.queue) || !Array.isArray(state.queue.items)) return "state.queue has no items";
  return (
    wrongHead(state.thread) ??
    firstWrong(state.messages, wrongMessage) ??
    firstWrong(state.runs, (run) => wrongRun({ run })) ??
    firstWrong(state.pending, wrongPending) ??
    firstWrong(state.queue.items, (item) => wrongItem({ item }))
  );
}

/** As `malformed`, for what a backend answers where it accepts a run. */
export function malformedAcceptance(run: unknown): string | undefined {
  if (!isObject(run)) return `it is ${describe(run)}, not an object`;
  return text("runId")(run) ?? wrongVersion(run);
}

function firstWrong(values: unknown, check: (value: unknown) => string | undefined): string | undefined {
  for (const value of values as readonly unknown[]) {
    const wrong = check(value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["snapshot", (event) => malformedState(event.state)],
  ["generation.started", all(wrongVersion, text("runId"), wrongBase)],
  ["generation.message.chunk", all(wrongVersion, text("runId"), sequence, text("messageId"), wrongChunk)],
  ["generation.completed", all(wrongVersion, text("runId"))],
  ["generation.failed", all(wrongVersion, text("runId"), object("error"))],
  ["generation.error", all(wrongVersion, text("runId"), sequence)],
  ["generation.aborted", all(wrongVersion, text("runId"), sequence)],
  ["message.appended", all(wrongVersion, (event) => wrongMessage(event.message))],
  ["run.admitted", all(wrongVersion, wrongRun)],
  ["run.updated", all(wrongVersion, wrongRun)],
  ["thread.head.changed", (event) => wrongHead(event.head)],
  ["queue-item-added", all(wrongVersion, wrongItem)],
  ["queue-item-removed", all(wrongVersion, text("queueItemId"))],
]);

/** Which fields of the SDK's chunks have to be texts: those by which parts are found and grown. */
const CHUNK_TEXTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["text-start", ["id"]],
  ["text-delta", ["id", "delta"]],
  ["text-end", ["id"]],
  ["reasoning-start", ["id"]],
  ["reasoning-delta", ["id", "delta"]],
  ["reasoning-end", ["id"]],
  ["tool-input-start", ["toolCallId", "toolName"]],
  ["tool-input-delta", ["toolCallId", "inputTextDelta"]],
  ["tool-input-available", ["toolCallId", "toolName"]],
  ["tool-input-error", ["toolCallId", "toolName", "errorText"]],
  ["tool-output-available", ["toolCallId"]],
  ["tool-output-error", ["toolCallId", "errorText"]],
  ["tool-output-denied", ["toolCallId"]],
  ["tool-approval-request", ["toolCallId", "approvalId"]],
]);

function all(...checks: readonly Check[]): Check {
  return (event) => {
    for (const check of checks) {
      const wrong = check(event);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

function text(key: string): Check {
  return (event) => (typeof event[key] === "string" ? undefined : `${key} is ${describe(event[key])}, not a text`);
}

function object(key: string): Check {
  return (event) => (isObject(event[key]) ? undefined : `${key} is ${describe(event[key])}, not an object`);
}

function sequence(event: Loose): string | undefined {
  const seq = event.seq;
  return Number.isSafeInteger(seq) && (seq as number) >= 0
    ? undefined
    : `seq is ${describe(seq)}, not a sequence number`;
}

function wrongVersion({ version }: Loose): string | undefined {
  const right = isObject(version) && typeof version.threadInstanceId === "string";
  return right && Number.isFinite(version.revision) ? undefined : "version is no version of a thread";
}

function wrongBase({ seq, baseMessages }: Loose): string | undefined {
  if (seq !== 0) return `seq is ${describe(seq)}, not 0`;
  if (!Array.isArray(baseMessages)) return "baseMessages is no array";
  return firstWrong(baseMessages, wrongMessage);
}

function wrongChunk({ chunk }: Loose): string | undefined {
  if (!isObject(chunk) || typeof chunk.type !== "string") return "chunk is no chunk of the AI SDK";
  for (const key of CHUNK_TEXTS.get(chunk.type) ?? []) {
    if (typeof chunk[key] !== "string") return `${key} of ${chunk.type} is ${describe(chunk[key])}, not a text`;
  }
  return undefined;
}

function wrongMessage(message: unknown): string | undefined {
  if (!isObject(message) || typeof message.id !== "string" || typeof message.role !== "string")
    return "a message without id or role";
  const parts = message.parts;
  const right = Array.isArray(parts) && parts.every((part) => isObject(part) && typeof part.type === "string");
  return right ? undefined : `the parts of message ${message.id} are no parts`;
}

function wrongRun({ run }: Loose): string | undefined {
  const right = isObject(run) && typeof run.runId === "string" && typeof run.status === "string";
  return right ? undefined : "run is no run";
}

function wrongItem({ item }: Loose): string | undefined {
  if (!isObject(item) || typeof item.queueItemId !== "string") return "item is no queued item";
  return wrongMessage(item.message);
}

function wrongPending(record: unknown): string | undefined {
  const right = isObject(record) && typeof record.name === "string" && typeof record.toolName === "string";
  return right ? undefined : "a pending action is none";
}

function wrongHead(head: unknown): string | undefined {
  return isObject(head) && typeof head.id === "string" ? wrongVersion(head) : "the head of the thread is none";
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  const shown = JSON.stringify(value) ?? typeof value;
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
