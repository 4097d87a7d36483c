import { rawEventText } from "../../agent/sse-events.ts";
import type { EventDraft } from "../../cassette/draft.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import { agentErrorToStored } from "./agent-error.ts";
import { type AgentRequest, agentEvent } from "./agent-requests.ts";
import { closableIterator } from "./closable-iterator.ts";
import { beginRecordedCall } from "./recorded-call.ts";
import { reducerLoaded } from "./reducer-loaded.ts";

/**
 * Opens a watch for real and records it. An event is kept with the exact text in which it came, where it came as a
 * text. Nothing is asked for that the program did not ask for; each event has a turn of the event loop of its own, as it has in
 * a replay. When the program leaves, so does the watch.
 */
export function recordWatch<E extends { readonly type: string }>(
  session: Session,
  recording: Recording,
  request: AgentRequest,
  open: (signal: AbortSignal) => AsyncIterable<E>,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<E, undefined> {
  const { name, thread, input } = request;
  const events: EventDraft[] = [];
  const call = beginRecordedCall(
    session,
    recording,
    request,
    () => input,
    () => ({ events }),
  );
  recording.opened();
  const leaving = new AbortController();
  const items = iterate(() => open(leaving.signal));
  const deliver = (kind: "frame" | "close", type?: string): Pick<EventDraft, "at" | "after"> => {
    const after = recording.delivered(agentEvent(kind, name, thread, type));
    const at = recording.elapsed();
    return after === undefined ? { at } : { at, after };
  };
  const pull = async (): Promise<IteratorResult<E, undefined>> => {
    let step: IteratorResult<E, unknown>;
    try {
      step = await items.next();
      if (events.length === 0) await reducerLoaded();
      await session.turn();
    } catch (error) {
      await session.turn();
      if (!leaving.signal.aborted)
        call.settle({ events, end: { ...deliver("close"), error: agentErrorToStored(error) } });
      throw error;
    }
    if (leaving.signal.aborted) return { done: true, value: undefined };
    if (step.done === true) {
      call.settle({ events, result: deliver("close") });
      return { done: true, value: undefined };
    }
    const event = step.value;
    events.push({ ...deliver("frame", event.type), text: textOf(event) });
    return { done: false, value: event };
  };
  const close = (): void => {
    call.settle({ events, end: { at: recording.elapsed(), by: "client" } });
    leaving.abort(signal?.reason);
    // The reader is gone: whether the watch below ends well or badly is nobody's any more.
    items.return?.().then(undefined, () => undefined);
  };
  return closableIterator({ pull, close }, signal);
}

/** The items, or what failed to give them: a watch that cannot be opened fails when it is read, and so it is recorded. */
function iterate<E>(open: () => AsyncIterable<E>): AsyncIterator<E, unknown> {
  try {
    return open()[Symbol.asyncIterator]();
  } catch (error) {
    return { next: () => Promise.reject(error) };
  }
}

function textOf(event: object): string {
  return rawEventText(event) ?? JSON.stringify(event);
}
