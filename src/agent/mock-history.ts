import type {
  AgentContract,
  MessageId,
  PaiThreadTransportEvent,
  PaiWireUIMessage,
  RunStateDTO,
  SuspensionData,
} from "./protocol.ts";
import { SUSPENSION_PART } from "./protocol.ts";
import type { Chunk } from "./script-chunks.ts";
import type { CommitPoint } from "./world.ts";
import { pendingOf } from "./world-pending.ts";
import { type ThreadRecord, threadState } from "./world-thread.ts";

type Part<T extends AgentContract> = PaiWireUIMessage<T>["parts"][number];
interface LoosePart {
  readonly type: string;
  readonly id?: string;
  readonly toolCallId?: string;
  readonly data?: unknown;
}

/** A thread whose history is another one: no sparse event takes a message out, so it is told as a snapshot. */
export function rewritten<T extends AgentContract>(
  { record, head, version }: CommitPoint<T>,
  messages: readonly PaiWireUIMessage<T>[],
): PaiThreadTransportEvent<T> {
  const pending = pendingOf(messages, record.pending);
  const waiting = new Set(pending.map(({ runId }) => runId));
  const runs = record.runs.map((run) =>
    run.status === "waiting" && !waiting.has(run.runId) ? ({ ...run, status: "aborted" } as const) : run,
  );
  const state = { ...threadState(record), thread: { ...head, version }, messages, pending, runs, error: null };
  return { type: "snapshot", state: structuredClone(state) };
}

/** The turn of a model message, default the last: what it answers, and the history before it. */
export function turnOf<T extends AgentContract>(
  record: Readonly<ThreadRecord<T>>,
  messageId: MessageId | undefined,
): { messageId: MessageId; kept: readonly PaiWireUIMessage<T>[] } | undefined {
  const { messages, runs } = record;
  const isTarget = ({ id, role, metadata }: PaiWireUIMessage<T>): boolean =>
    messageId === undefined ? metadata?.pai.producer === "model" : id === messageId && role === "assistant";
  const at = messages.findLastIndex(isTarget);
  if (at < 0) return undefined;
  const owner = messages[at]?.metadata?.pai.runId;
  const first = messages.findIndex(({ role, metadata }) => role === "assistant" && metadata?.pai.runId === owner);
  const start = owner === undefined ? at : first;
  const input =
    runs.find(({ runId }) => runId === owner)?.messageId ??
    messages.slice(0, start).findLast(({ role }) => role === "user")?.id;
  return input === undefined ? undefined : { messageId: input, kept: messages.slice(0, start) };
}

/** The run that goes on when its action was submitted. */
export function newTurn<T extends AgentContract>({ finishedAt: _, error: __, ...run }: RunStateDTO<T>): RunStateDTO<T> {
  return { ...run, status: "running", operation: "submitAction" };
}

/** The message with an answered suspension; the call of a tool that the client executes has its output by that. */
export function submitted<T extends AgentContract>(
  message: PaiWireUIMessage<T>,
  actionId: string,
  output: unknown,
): PaiWireUIMessage<T> {
  const parts = message.parts as readonly LoosePart[];
  const waiting = parts
    .filter(({ type }) => type === SUSPENSION_PART)
    .map(({ data }) => data as SuspensionData)
    .find((data) => data.actionId === actionId);
  const implicit = waiting?.action === "output" && waiting.suspendName === undefined;
  const answered = parts.map((part) => {
    if (part.type === SUSPENSION_PART && part.data === waiting) {
      return { ...part, data: { ...waiting, status: "submitted", output } };
    }
    if (implicit && part.toolCallId === waiting?.toolCallId) return { ...part, state: "output-available", output };
    return part;
  });
  return structuredClone({ ...message, parts: answered as unknown as Part<T>[] });
}

/** The message with a tool's named data in the place of that of the same id, or at the end. */
export function withToolData<T extends AgentContract>(message: PaiWireUIMessage<T>, chunk: Chunk): PaiWireUIMessage<T> {
  const { type, id, data } = chunk as unknown as LoosePart;
  const part = { type, ...(id === undefined ? {} : { id }), data };
  const parts = message.parts as readonly LoosePart[];
  const at = id === undefined ? -1 : parts.findIndex((each) => each.type === type && each.id === id);
  const written = at < 0 ? [...parts, part] : parts.with(at, part);
  return { ...message, parts: written as unknown as Part<T>[] };
}
