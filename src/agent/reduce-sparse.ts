import type { PaiThreadTransportEvent, PaiThreadTransportState } from "./protocol.ts";

type State = PaiThreadTransportState;
export type SparseEvent = Extract<
  PaiThreadTransportEvent,
  {
    readonly type:
      | "message.appended"
      | "run.admitted"
      | "run.updated"
      | "thread.head.changed"
      | "queue-item-added"
      | "queue-item-removed";
  }
>;

/** The state after one durable fact, whose revision is at least that of the state. The same fact again changes nothing. */
export function applySparse(state: State, event: SparseEvent): State {
  if (event.type === "thread.head.changed") return { ...state, thread: event.head };
  const { thread } = state;
  const next: State = { ...state, thread: { ...thread, version: event.version } };
  switch (event.type) {
    case "message.appended":
      return { ...next, messages: upsert(state.messages, event.message, ({ id }) => id) };
    case "run.admitted":
      return {
        ...next,
        thread: { ...next.thread, status: "running" },
        runs: upsert(state.runs, event.run, ({ runId }) => runId),
        activeRunId: event.run.runId,
        error: null,
      };
    case "run.updated": {
      const runs = upsert(state.runs, event.run, ({ runId }) => runId);
      const over = event.run.status !== "running" && state.activeRunId === event.run.runId;
      return { ...next, runs, activeRunId: over ? null : state.activeRunId };
    }
    case "queue-item-added":
      return {
        ...next,
        queue: { ...state.queue, items: upsert(state.queue.items, event.item, (item) => item.queueItemId) },
      };
    case "queue-item-removed": {
      const items = state.queue.items.filter((item) => item.queueItemId !== event.queueItemId);
      return { ...next, queue: { ...state.queue, items } };
    }
  }
}

/** The list with an item in the place of the one of its key, or at the end. */
export function upsert<I>(list: readonly I[], item: I, keyOf: (item: I) => unknown): readonly I[] {
  const at = list.findIndex((each) => keyOf(each) === keyOf(item));
  return at < 0 ? [...list, item] : list.with(at, item);
}
