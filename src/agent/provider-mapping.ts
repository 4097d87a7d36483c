import type { AgentContract, PaiThreadGenerationEvent, PaiThreadTransportEvent } from "./protocol.ts";
import { ReductionFault } from "./reduce-fault.ts";

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
 * What a provider's event is to a client: of a frame its native event, the same object with all of its fields and none of
 * the routing; `state.changed` for `thread.changed`, without anything of the storage; a sparse event as it is.
 * `undefined` for `runner.wake`, which never crosses the transport boundary.
 *
 * @throws Error for a frame of another stream or generation than the active one, and for what is no event; it says which.
 */
export function toTransportEvent<T extends AgentContract = AgentContract>(
  event: RealtimeProviderEvent<T>,
  active: ActiveGeneration | undefined,
): PaiThreadTransportEvent<T> | undefined {
  if (typeof event !== "object" || event === null) throw notAnEvent(event);
  if ("streamId" in event || "generationId" in event) return nativeEvent(event as GenerationStreamFrame<T>, active);
  // A snapshot is read by the watch handler, which knows what its client may see.
  if (typeof event.type !== "string" || isOfGeneration(event) || (event.type as string) === "snapshot")
    throw notAnEvent(event);
  if (event.type === "runner.wake") return undefined;
  if (event.type === "thread.changed") return { type: "state.changed" };
  return event as PaiThreadTransportEvent<T>;
}

/**
 * The events of a provider as the live part of a watch. What `toTransportEvent` refuses stands as `state.changed`, by which
 * clients read the thread anew, and is told to `onFault`. `active` is asked for each event: generations follow one another.
 * Iterate it to the end, or leave it: leaving it leaves the provider's events.
 */
export async function* toTransportEvents<T extends AgentContract = AgentContract>(
  events: AsyncIterable<RealtimeProviderEvent<T>>,
  active: () => ActiveGeneration | undefined,
  onFault: (fault: Error) => void = () => undefined,
): AsyncGenerator<PaiThreadTransportEvent<T>, void> {
  for await (const event of events) {
    let mapped: PaiThreadTransportEvent<T> | undefined;
    try {
      mapped = toTransportEvent<T>(event, active());
    } catch (error) {
      if (!(error instanceof ReductionFault)) throw error;
      onFault(error);
      mapped = { type: "state.changed" };
    }
    if (mapped !== undefined) yield mapped;
  }
}

function nativeEvent<T extends AgentContract>(
  frame: GenerationStreamFrame<T>,
  active: ActiveGeneration | undefined,
): PaiThreadGenerationEvent<T> {
  const { streamId, generationId, event } = frame;
  if (typeof streamId !== "string" || typeof generationId !== "string" || !isOfGeneration(event))
    throw notAnEvent(frame);
  if (streamId === active?.streamId && generationId === active.generationId) return event;
  const which =
    active === undefined
      ? "none is"
      : `generation ${active.generationId} of stream ${active.streamId} is the active one`;
  throw new ReductionFault(`${event.type} is of generation ${generationId} of stream ${streamId}, and ${which}.`);
}

/** Types of generation events that are not known yet are carried too; clients ignore them. */
function isOfGeneration(event: unknown): boolean {
  const type = (event as { readonly type?: unknown } | null | undefined)?.type;
  return typeof type === "string" && type.startsWith("generation.");
}

function notAnEvent(event: unknown): ReductionFault {
  const found = typeof event === "object" && event !== null ? `{ ${Object.keys(event).join(", ")} }` : String(event);
  return new ReductionFault(
    `${found} is no event of a realtime provider: it is a sparse event { type, … }, or a frame { streamId, generationId, event: { type: "generation.…", … } }.`,
  );
}
