import { headChanged } from "./mock-head.ts";
import type {
  AdmittedRunState,
  AgentContract,
  PaiQueuedItemTransport,
  PaiThreadTransportEvent,
  PaiWireUIMessage,
  RunStateDTO,
  ThreadVersion,
} from "./protocol.ts";
import type { CommitPoint, World } from "./world.ts";
import { currentMessages } from "./world-thread.ts";

/** What begins: a run, with the message that it answers where that is new; or an item of the queue. */
export type Admitted<T extends AgentContract> =
  | {
      readonly run: RunStateDTO<T>;
      readonly message?: PaiWireUIMessage<T>;
      /** A message of the run that an earlier event of the same commit replaces. */
      readonly replaced?: PaiWireUIMessage<T>;
      readonly after?: number;
    }
  | { readonly item: PaiQueuedItemTransport<T>; readonly after?: number };

/** The revision `count` after the commit's first. */
export function later({ threadInstanceId, revision }: ThreadVersion, count: number): ThreadVersion {
  return { threadInstanceId, revision: revision + count };
}

/**
 * The events that make a run the running one: its message, `run.admitted`, `generation.started` with the model messages
 * that the run owns already. `after`: revisions that other events of the same commit take first.
 */
export function admission<T extends AgentContract>(
  world: World<T>,
  point: CommitPoint<T>,
  admitted: Admitted<T>,
): PaiThreadTransportEvent<T>[] {
  const { record, head } = point;
  const first = later(point.version, admitted.after ?? 0);
  const queued = "item" in admitted ? admitted.item : undefined;
  const message = "item" in admitted ? admitted.item.message : admitted.message;
  const before = "item" in admitted ? record.runs.find(({ runId }) => runId === admitted.item.runId) : admitted.run;
  const run = { ...(before as RunStateDTO<T>), status: "running" } as AdmittedRunState<T>;
  const { runId } = run;
  const at = world.now();
  const isNew = head.version.revision === 0;
  const created = isNew ? { createdAt: at } : {};
  const version = later(first, message === undefined ? 0 : 1);
  const replaced = "item" in admitted ? undefined : admitted.replaced;
  const baseMessages = currentMessages(record)
    .filter(({ metadata }) => metadata?.pai.producer === "model" && metadata.pai.runId === runId)
    .map((each) => (each.id === replaced?.id ? replaced : each));
  return [
    ...(isNew ? [headChanged(head, first, { ...created, updatedAt: at }, "created")] : []),
    ...(queued === undefined
      ? []
      : [
          {
            type: "queue-item-removed",
            version: first,
            runId,
            queueItemId: queued.queueItemId,
            reason: "admitted",
          } as const,
        ]),
    ...(message === undefined ? [] : [{ type: "message.appended", version: first, message } as const]),
    { type: "run.admitted", version, run },
    { type: "generation.started", runId, version, seq: 0, baseMessages },
    headChanged(head, version, { ...created, status: "running", updatedAt: at }, "status"),
  ];
}
