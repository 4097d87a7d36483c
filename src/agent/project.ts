import type { UIMessage, UIMessagePart } from "ai";
import {
  type AgentContract,
  type PaiMessageMetadata,
  type PaiQueuedItemTransport,
  type PaiThreadHead,
  type PaiThreadTransportState,
  type PaiWireUIMessage,
  type PendingActionRecord,
  type RunId,
  type RunStateDTO,
  SUSPENSION_PART,
  type SuspensionData,
  type ThreadCapabilityView,
  type ThreadErrorRecord,
  TOOL_DATA_PART,
  type ToolDataRecord,
  type UsageSummary,
} from "./protocol.ts";
import { isPaiToolPart, type PaiToolPart, type Suspension, type ToolPartExtras } from "./tool-part.ts";

type DataTypes<T extends AgentContract> = { [K in keyof T["data"] & string]: T["data"][K] };

/** A part of a projected message: no reserved `data-pai-*` among them. */
export type PaiMessagePart<T extends AgentContract = AgentContract> =
  | Exclude<UIMessagePart<DataTypes<T>, Record<never, never>>, { readonly toolCallId: string }>
  | PaiToolPart<T>;

/** A message as an application sees it. */
export type PaiMessage<T extends AgentContract = AgentContract> = Omit<
  UIMessage<PaiMessageMetadata<T>, DataTypes<T>>,
  "parts"
> & { readonly parts: readonly PaiMessagePart<T>[] };

/** An action that waits, without the ids by which the backend knows it. */
export type PendingActionView<T extends AgentContract = AgentContract> = Omit<PendingActionRecord<T>, "actionId">;

export type QueuedItem<T extends AgentContract = AgentContract> = Omit<PaiQueuedItemTransport<T>, "message"> & {
  readonly message: PaiMessage<T>;
};

/** The complete state of a thread, projected for the application. */
export interface ThreadState<T extends AgentContract = AgentContract> {
  readonly thread: PaiThreadHead<T>;
  readonly messages: readonly PaiMessage<T>[];
  readonly runs: readonly RunStateDTO<T>[];
  readonly pending: readonly PendingActionView<T>[];
  readonly activeRunId: RunId | null;
  readonly queue: { readonly items: readonly QueuedItem<T>[] };
  readonly usage: UsageSummary;
  readonly capabilities: ThreadCapabilityView;
  readonly error: ThreadErrorRecord | null;
}

const RESERVED = "data-pai-";

/** The public state of a raw one. Pure: the same raw state gives an equal one, the same raw message the same object. */
export function projectState<T extends AgentContract>(raw: PaiThreadTransportState<T>): ThreadState<T> {
  return {
    ...raw,
    messages: raw.messages.map(projectMessage),
    pending: raw.pending.map(({ actionId: _, ...view }) => view),
    queue: {
      ...raw.queue,
      items: raw.queue.items.map((item) => ({ ...item, message: projectMessage(item.message) })),
    },
  };
}

const projections = new WeakMap<object, unknown>();

/**
 * A native message without its reserved parts: suspensions and tool data stand on the tool part that they belong to,
 * anything else reserved is left out.
 */
export function projectMessage<T extends AgentContract>(message: PaiWireUIMessage<T>): PaiMessage<T> {
  const known = projections.get(message);
  if (known !== undefined) return known as PaiMessage<T>;
  const extras = reservedByToolCall(message.parts as readonly LoosePart[]);
  const parts: unknown[] = [];
  for (const part of message.parts as readonly LoosePart[]) {
    if (part.type.startsWith(RESERVED)) continue;
    parts.push(isPaiToolPart(part) ? withExtras(part, extras) : part);
  }
  const projected = { ...message, parts } as unknown as PaiMessage<T>;
  projections.set(message, projected);
  return projected;
}

function withExtras(part: LoosePart, extras: ReadonlyMap<string, Reserved>): LoosePart & ToolPartExtras {
  return { ...part, ...extrasOf(extras.get(part.toolCallId ?? "")) };
}

interface LoosePart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly data?: unknown;
}

interface Reserved {
  readonly suspensions: SuspensionData[];
  readonly toolData: Map<string, unknown>;
}

function reservedByToolCall(parts: readonly LoosePart[]): ReadonlyMap<string, Reserved> {
  const found = new Map<string, Reserved>();
  for (const part of parts) {
    if (part.type !== SUSPENSION_PART && part.type !== TOOL_DATA_PART) continue;
    const data = part.data as Partial<SuspensionData & ToolDataRecord> | null | undefined;
    if (typeof data?.toolCallId !== "string") continue;
    const reserved = found.get(data.toolCallId) ?? { suspensions: [], toolData: new Map<string, unknown>() };
    found.set(data.toolCallId, reserved);
    if (part.type === SUSPENSION_PART) reserved.suspensions.push(data as SuspensionData);
    else if (typeof data.name === "string") reserved.toolData.set(data.name, data.data);
  }
  return found;
}

function extrasOf(reserved: Reserved | undefined): ToolPartExtras {
  if (reserved === undefined) return { suspensions: [], toolData: {} };
  const suspensions = reserved.suspensions.map(publicSuspension);
  const pendingSuspension = suspensions.findLast(({ status }) => status === "pending");
  return {
    suspensions,
    ...(pendingSuspension !== undefined && { pendingSuspension }),
    toolData: Object.fromEntries(reserved.toolData),
  };
}

function publicSuspension(data: SuspensionData): Suspension {
  const { actionId: _, toolCallId: __, action, ...shown } = data;
  return { name: action, ...shown };
}
