import type { CallTrack, Frame, Json } from "../../cassette/schema.ts";
import { untagValue } from "../../cassette/values.ts";
import type { Pending } from "../../engine/deliveries.ts";
import type { Play } from "../../engine/play.ts";
import { unlessAborted, untilAborted } from "../../engine/unless-aborted.ts";
import { CassetteInvalid } from "../../errors.ts";
import { modelEvent } from "./model-requests.ts";
import { restoreProviderError } from "./provider-errors.ts";
import { typeOf } from "./recorded-call.ts";
import { restorePart } from "./stored-part.ts";

/** Answers a call for a whole answer from a recorded track. */
export async function playGenerate(play: Play, signal: AbortSignal | undefined): Promise<object> {
  const track = play.track as CallTrack;
  const { result, error, end } = track;
  await held(play, track, signal);
  await failed(play, track, error ?? end?.error, signal);
  if (result === undefined) return untilAborted(signal, play); // the program gave up, and does so again
  await unlessAborted(play.turn(result.at ?? 0, "the result", result.after), signal);
  const answer = result.value === undefined ? undefined : untagValue(result.value);
  if (!Array.isArray((Object(answer) as { content?: unknown }).content))
    throw unplayable(play, `its result has no list under "content"`, `{ "value": { "content": [ … ], … } }`);
  play.note(modelEvent("response", track.call.name));
  return answer as object;
}

/** Answers a call for a stream from a recorded track: what came with the stream, then its parts, each in its turn. */
export async function playStream(play: Play, signal: AbortSignal | undefined): Promise<object> {
  const track = play.track as CallTrack;
  const { result, error, events, end } = track;
  await held(play, track, signal);
  await failed(play, track, error, signal);
  if (result === undefined && events === undefined && end?.error === undefined) return untilAborted(signal, play);
  await unlessAborted(play.turn(result?.at ?? 0, "the answer", result?.after), signal);
  const head = result?.value === undefined ? {} : untagValue(result.value);
  play.note(modelEvent("response", track.call.name));
  return { ...(Object(head) as object), stream: playParts(play, track, signal) };
}

async function held(play: Play, { after }: CallTrack, signal: AbortSignal | undefined): Promise<void> {
  if (after !== undefined) await unlessAborted(play.turn(0, "the answer", after), signal);
}

async function failed(
  play: Play,
  { call, events, end }: CallTrack,
  error: CallTrack["error"],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (error === undefined) return;
  await unlessAborted(play.turn(error.at ?? end?.at ?? 0, "the failure", end?.after), signal);
  play.note(modelEvent("response", call.name));
  const carried = events?.[0]?.value as { readonly details?: Json } | null | undefined;
  throw restoreProviderError(error, carried?.details);
}

// Without a queue: a part is delivered when the program asks for it, in a turn of the event loop of its own, so that
// it can abort, or leave, between any two.
function playParts(play: Play, track: CallTrack, signal: AbortSignal | undefined): ReadableStream<unknown> {
  const { events = [], end, call, result } = track;
  let next = 0;
  let at = result?.at ?? 0;
  let pending: Pending | undefined;
  let endWait: (() => void) | undefined;
  const turn = (when: number, what: string, after: CallTrack["after"]): Promise<void> => {
    pending = play.turn(when, what, after);
    return unlessAborted(pending, signal);
  };
  const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    const frame = events[next];
    if (frame === undefined) return finish(controller);
    next++;
    at = frame.at ?? at;
    await turn(at, `part ${next}`, frame.after);
    const part = partOf(play, frame, next);
    play.note(modelEvent("frame", call.name, typeOf(part)));
    controller.enqueue(part);
  };
  const finish = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    if (end?.by === "client") return untilLeft();
    await turn(end?.at ?? at, "the end", end?.after);
    play.note(modelEvent("close", call.name));
    if (end?.error !== undefined) throw restoreProviderError(end.error);
    controller.close();
  };
  // What aborts may be a timer that keeps no process alive: the wait does, as the connection did.
  const untilLeft = (): Promise<void> => {
    if (signal !== undefined) endWait = play.linger();
    const never = { promise: new Promise<never>(() => undefined), cancel: () => undefined };
    return unlessAborted(never, signal, endWait);
  };
  const cancel = (): void => {
    pending?.cancel();
    endWait?.();
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

function partOf(play: Play, frame: Frame, number: number): unknown {
  const json = frame.value ?? frame.json;
  if (json === undefined)
    throw unplayable(play, `event ${number} is no part of a model's stream`, '{ "value": { "type": … } }');
  return restorePart(json);
}

function unplayable(play: Play, fault: string, right: string): unknown {
  const { id, call } = play.track as CallTrack;
  return play.fail(
    new CassetteInvalid(
      `Track ${id} (${call.name}) cannot be given to the program: ${fault}.\n  next      write it as ${right}`,
      { track: id },
    ),
  );
}
