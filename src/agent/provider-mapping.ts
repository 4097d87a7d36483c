import { OptionInvalid } from "../errors.ts";
import type { AgentContract, PaiThreadGenerationEvent, PaiThreadTransportEvent } from "./protocol.ts";

export type GenerationStreamId = string;
export type GenerationId = string;
/** What a generation says, as a realtime provider carries it: the native event of the transport. */
export type GenerationStreamEvent<T extends AgentContract = AgentContract> = PaiThreadGenerationEvent<T>;

/** A native generation event under the routing identity of a realtime provider, of which clients know nothing. */
export interface GenerationStreamFrame<T extends AgentContract = AgentContract> {
  readonly streamId: GenerationStreamId;
  readonly generationId: GenerationId;
  readonly event: GenerationStreamEvent<T>;
}

/** What a realtime provider publishes of a thread: frames of a generation, sparse events, and what is its own affair. */
export type RealtimeProviderEvent<T extends AgentContract = AgentContract> =
  | GenerationStreamFrame<T>
  | Exclude<PaiThreadTransportEvent<T>, PaiThreadGenerationEvent<T> | { type: "snapshot" }>
  | { readonly type: "thread.changed"; readonly [storage: string]: unknown }
  | { readonly type: "runner.wake"; readonly [storage: string]: unknown };

/** The stream and the generation that are active. */
export interface ActiveGeneration {
  readonly streamId: GenerationStreamId;
  readonly generationId: GenerationId;
}

/**
 * What a provider's event is to a client: the native event of a frame of the active generation, `state.changed` for
 * `thread.changed` without anything of the storage, a sparse event as it is. `undefined`: it does not cross the transport
 * boundary, which is so for `runner.wake` and for frames of another stream or generation. `OptionInvalid` for what is no
 * event.
 */
export function toTransportEvent<T extends AgentContract = AgentContract>(
  event: RealtimeProviderEvent<T>,
  active: ActiveGeneration | undefined,
): PaiThreadTransportEvent<T> | undefined {
  if (typeof event !== "object" || event === null) throw notAnEvent(event);
  if ("streamId" in event && "event" in event) {
    const { streamId, generationId, event: native } = event as GenerationStreamFrame<T>;
    if (typeof native?.type !== "string") throw notAnEvent(event);
    return streamId === active?.streamId && generationId === active?.generationId ? native : undefined;
  }
  if (typeof event.type !== "string") throw notAnEvent(event);
  if (event.type === "runner.wake") return undefined;
  if (event.type === "thread.changed") return { type: "state.changed" };
  return event as PaiThreadTransportEvent<T>;
}

/** The events of a provider as a watch hands them on. `active` is asked for each frame: generations follow one another. */
export async function* toTransportEvents<T extends AgentContract = AgentContract>(
  events: AsyncIterable<RealtimeProviderEvent<T>>,
  active: () => ActiveGeneration | undefined,
): AsyncGenerator<PaiThreadTransportEvent<T>, void> {
  for await (const event of events) {
    const mapped = toTransportEvent<T>(event, active());
    if (mapped !== undefined) yield mapped;
  }
}

function notAnEvent(event: unknown): OptionInvalid {
  return new OptionInvalid(
    `${JSON.stringify(event)?.slice(0, 200)} is no event of a realtime provider: it is { type, … }, or a frame { streamId, generationId, event: { type, … } }.`,
  );
}
