import { keepEventText } from "../../agent/sse-events.ts";
import { contentText } from "../../cassette/content.ts";
import type { CallTrack, Frame, Json } from "../../cassette/schema.ts";
import { untagValue } from "../../cassette/values.ts";
import type { Pending } from "../../engine/deliveries.ts";
import type { Play } from "../../engine/play.ts";
import { CassetteInvalid, type WiretapeError } from "../../errors.ts";
import { storedToAgentError } from "./agent-error.ts";
import { type AgentOperation, agentEvent } from "./agent-requests.ts";
import { closableIterator } from "./closable-iterator.ts";
import { reducerLoaded } from "./reducer-loaded.ts";

/**
 * Plays a recorded watch: its events verbatim, each in its turn and behind its gate, then its end. A watch that the
 * program left stays open after its events until the program leaves it again. `publish` is told of each event
 * before the program is handed it, and waited for.
 */
export function playWatch<E extends { readonly type: string }>(
  play: Play,
  name: AgentOperation,
  thread: string | undefined,
  signal: AbortSignal | undefined,
  publish: (read: () => E) => Promise<void> | undefined,
): AsyncIterableIterator<E, undefined> {
  const track = play.track as CallTrack;
  const { events = [], end, result, error } = track;
  let pending: Pending | undefined;
  let at = 0;
  let next = 0;

  const turn = async (when: number, what: string, after: CallTrack["after"]): Promise<void> => {
    pending = play.turn(when, what, after);
    await pending.promise;
    pending = undefined;
  };
  const pull = async (): Promise<IteratorResult<E, undefined>> => {
    if (next === 0) await reducerLoaded();
    if (next === 0 && track.after !== undefined) await turn(0, "the answer", track.after);
    const frame = events[next];
    if (frame === undefined) return finish();
    next++;
    at = frame.at ?? at;
    await turn(at, `event ${next}`, frame.after);
    const read = (): E => eventOf(frame, track, next, play) as E;
    const event = read();
    play.note(agentEvent("frame", name, thread, event.type));
    await publish(read);
    return { done: false, value: event };
  };
  const finish = async (): Promise<IteratorResult<E, undefined>> => {
    if (end?.by === "client") return untilLeft();
    const failure = end?.error ?? error;
    await turn(end?.at ?? error?.at ?? result?.at ?? at, "the end", end?.after ?? result?.after);
    play.note(agentEvent("close", name, thread));
    if (failure !== undefined) throw storedToAgentError(failure);
    return { done: true, value: undefined };
  };
  let endWait: (() => void) | undefined;
  const untilLeft = (): Promise<never> => {
    // What aborts may be a timer that keeps no process alive: the wait does, as the connection did.
    if (signal !== undefined) endWait ??= play.linger();
    return new Promise(() => undefined);
  };
  const close = (): void => {
    pending?.cancel();
    endWait?.();
  };
  return closableIterator({ pull, close }, signal);
}

/** The event of a frame, made anew, with its exact text where it has one. */
function eventOf(frame: Frame, track: CallTrack, number: number, play: Play): object {
  const text = contentText(frame, track.style);
  let event: unknown;
  let fault = "it is no JSON object with a type";
  try {
    event = text === undefined ? untagValue(frame.value as Json) : JSON.parse(text);
  } catch (error) {
    fault = (error as Error).message;
  }
  if (typeof event === "object" && event !== null && typeof (event as { type?: unknown }).type === "string")
    return text === undefined ? event : keepEventText(event, text);
  throw play.fail(unreadable(track, number, fault));
}

function unreadable(track: CallTrack, number: number, fault: string): WiretapeError {
  return new CassetteInvalid(
    `Event ${number} of track ${track.id} (${track.call.name}) is no event of a watch: ${fault}.\n  next      write it as { "json": { "type": … } }`,
    { track: track.id, event: number },
  );
}
