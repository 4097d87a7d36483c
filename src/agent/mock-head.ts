import type {
  AgentContract,
  PaiThreadHead,
  PaiThreadTransportEvent,
  ThreadHeadChangeReason,
  ThreadVersion,
} from "./protocol.ts";

/** The event that tells of a head of which some facts changed. */
export function headChanged<T extends AgentContract>(
  head: PaiThreadHead<T>,
  version: ThreadVersion,
  changed: Partial<Pick<PaiThreadHead<T>, "title" | "status" | "createdAt" | "updatedAt">>,
  reason: ThreadHeadChangeReason,
): Extract<PaiThreadTransportEvent<T>, { type: "thread.head.changed" }> {
  return { type: "thread.head.changed", reason, head: { ...head, ...changed, version } };
}
