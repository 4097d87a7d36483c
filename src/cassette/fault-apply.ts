import { OptionInvalid } from "../errors.ts";
import { concatBytes, decodeUtf8, encodeBase64 } from "../wire/bytes.ts";
import { encodeJson } from "../wire/json.ts";
import { contentText, encodeContent } from "./content.ts";
import type { Chunk, SentChunk } from "./draft.ts";
import { describeFault, describeTrack, type Fault } from "./fault-kinds.ts";
import { frameBody, frameSent, openBody, openFrames } from "./frames.ts";
import { isPipe } from "./frames-read.ts";
import type {
  End,
  Frame,
  Gate,
  HttpTrack,
  Json,
  ProcessTrack,
  StoredError,
  StoredResponse,
  Style,
  Track,
} from "./schema.ts";

/**
 * Applies faults to recorded tracks. Pure: a track that changes is a new one, and an edit is known as an edit by the
 * seal, which nobody stamps here.
 */

const RESET: StoredError = {
  name: "TypeError",
  message: "terminated",
  cause: { name: "SocketError", message: "other side closed", code: "UND_ERR_SOCKET" },
};

/** The frames of a track's answer: what faults count. A single content object is one frame. */
export function answerFrames(track: Track): readonly Frame[] {
  if (track.kind === "http") {
    const body = track.response?.body;
    return body === undefined ? [] : Array.isArray(body) ? (body as readonly Frame[]) : [body as Frame];
  }
  if ("call" in track) return track.events ?? [];
  return (track.frames ?? []).filter(isAnswer);
}

const isAnswer = ({ from }: Frame): boolean => from !== "client" && from !== "stdin";

/** Whether a fault can happen to a track: what it would change is there. */
export function canHappen(track: Track, fault: Fault): boolean {
  const frames = answerFrames(track);
  const http = track.kind === "http";
  const answered = http ? track.response !== undefined : frames.length > 0;
  const frame = "frame" in fault && fault.frame > 0 ? frames[fault.frame - 1] : undefined;
  switch (fault.type) {
    case "cut":
      return answered && fault.frame < frames.length;
    case "reset":
      return frame !== undefined && (hasBytes(frame) || "call" in track);
    case "tear":
      return !("call" in track) && isStream(track) && frames.length > 0 && frames.every(hasBytes);
    case "coalesce":
      return !("call" in track) && isStream(track) && frames.length > 1 && frames.every(hasBytes);
    case "duplicate":
      return frame !== undefined && (!http || Array.isArray(track.response?.body));
    case "delay":
      return frame !== undefined || (fault.frame === 0 && (http || "call" in track));
    case "status":
      return http;
    case "empty":
      return http && frames.length > 0;
    case "malformed":
      return frame !== undefined && malformed(frame, undefined) !== undefined;
  }
}

// Messages are handed over whole, whatever the wire made of them.
const isStream = (track: Track): boolean => track.kind === "http" || track.kind === "process";
const hasBytes = ({ file, value }: Frame): boolean => file === undefined && value === undefined;

/**
 * What a fault makes of a track: the track that stands in its place, before it one that answers first (`status`). Throws
 * `OptionInvalid` where the fault cannot happen to it.
 */
export function applyFault(track: Track, fault: Fault): readonly Track[] {
  if (!canHappen(track, fault)) throw impossible(track, fault);
  switch (fault.type) {
    case "cut":
      return [withFrames(track, (frames) => frames.slice(0, fault.frame))];
    case "reset":
      return [reset(track, fault.frame, fault.bytes)];
    case "tear":
      return [rechunked(track, (chunks) => chunks.flatMap((chunk) => torn(chunk, fault.size ?? 1)))];
    case "coalesce":
      return [rechunked(track, (chunks) => [coalesced(chunks)])];
    case "duplicate":
      return [withFrames(track, (frames) => twice(frames, fault.frame - 1))];
    case "delay":
      return [delayed(track, fault.frame, fault.ms)];
    case "status":
      return [failedOnce(track as HttpTrack, fault.status, fault.body), track];
    case "empty": {
      return [{ ...(track as HttpTrack), response: without(responseOf(track as HttpTrack), "body", "style", "end") }];
    }
    case "malformed":
      return [
        withFrames(track, (frames) =>
          frames.map((frame, i) => (i === fault.frame - 1 ? (malformed(frame, styleOf(track)) as Frame) : frame)),
        ),
      ];
  }
}

const responseOf = (track: HttpTrack): StoredResponse => track.response as StoredResponse;

function without<T extends object, K extends keyof T>(value: T, ...keys: readonly K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as K))) as Omit<T, K>;
}

/** A frame's place in time and order, without what it holds. */
const placeOf = (frame: Frame): Frame =>
  without(frame, "json", "line", "sse", "text", "base64", "file", "value", "style", "pad", "cuts");

function impossible(track: Track, fault: Fault): OptionInvalid {
  const count = answerFrames(track).length;
  const frames =
    count === 0 ? "its answer has no frames" : `its answer has ${count === 1 ? "1 frame" : `${count} frames`}`;
  return new OptionInvalid(
    `The fault "${describeFault(fault)}" cannot happen to track ${describeTrack(track)}: it is of kind ${track.kind}, and ${frames}.`,
    { fault, track: track.id },
  );
}

const styleOf = (track: Track): Style | undefined => (track.kind === "http" ? track.response?.style : track.style);

/** The track with other frames in its answer. What the program sent stays, as far as it lies before the last of them. */
function withFrames(track: Track, change: (frames: readonly Frame[]) => readonly Frame[]): Track {
  const before = answerFrames(track);
  const after = change(before);
  if (track.kind === "http") {
    const head = without(responseOf(track), "body");
    const kept = after.length < before.length ? without(head, "end") : head;
    return { ...track, response: after.length === 0 ? kept : { ...kept, body: after } } as HttpTrack;
  }
  if ("call" in track) {
    return { ...(after.length < before.length ? without(track, "end") : track), events: after } as Track;
  }
  const all = track.frames ?? [];
  if (after.length < before.length) {
    const last = after.length === 0 ? -1 : all.indexOf(before[after.length - 1] as Frame);
    return { ...track, frames: all.slice(0, last + 1) };
  }
  let next = 0;
  const frames = all.flatMap((frame) => {
    if (!isAnswer(frame)) return [frame];
    const index = before.indexOf(frame);
    const upTo = index === before.length - 1 ? after.length : after.length - (before.length - 1 - index);
    const own = after.slice(next, upTo);
    next = upTo;
    return own;
  });
  return { ...track, frames };
}

function twice(frames: readonly Frame[], index: number): readonly Frame[] {
  const again = without(frames[index] as Frame, "joined", "after");
  return [...frames.slice(0, index + 1), again, ...frames.slice(index + 1)];
}

function reset(track: Track, number: number, size: number | undefined): Track {
  const frames = answerFrames(track);
  const frame = frames[number - 1] as Frame;
  const at = endOf(frames.slice(0, number), track.kind === "http" ? (track.response?.at ?? 0) : 0);
  const end: End = { at, error: RESET };
  if ("call" in track) {
    return { ...without(track, "result"), events: frames.slice(0, number - 1), end } as Track;
  }
  const message = track.kind === "websocket" || track.kind === "mcp";
  const bytes = encodeContent(frame, styleOf(track));
  const part = message ? bytes.slice(0, 0) : bytes.slice(0, size ?? Math.floor(bytes.length / 2));
  const cuts = frame.cuts?.filter(([offset]) => offset <= part.length);
  const torn: Frame = { ...placeOf(frame), ...contentOf(part), ...(cuts !== undefined && { cuts }) };
  const kept = part.length === 0 ? frames.slice(0, number - 1) : [...frames.slice(0, number - 1), torn];
  if (track.kind === "http") {
    return { ...track, response: { ...responseOf(track), body: kept, end } };
  }
  const all = track.frames ?? [];
  const before = all.slice(0, all.indexOf(frame));
  const whole = { ...track, frames: part.length === 0 ? before : [...before, torn] };
  if (track.kind === "process") return { ...whole, close: { at, code: null, signal: "SIGKILL" } } as Track;
  if (track.kind === "websocket") return { ...whole, close: { at, code: 1006 }, end } as Track;
  return { ...without(whole, "close"), end } as Track;
}

function contentOf(bytes: Uint8Array): Frame {
  const text = decodeUtf8(bytes);
  return text === undefined ? { base64: encodeBase64(bytes) } : { text };
}

function endOf(frames: readonly Frame[], start: number): number {
  return frames.reduce((at, frame) => frame.cuts?.at(-1)?.[1] ?? frame.at ?? at, start);
}

/** The bytes of a stream in other chunks. A process's two streams change each by itself, between what it was sent. */
function rechunked(track: Track, change: <C extends Chunk>(chunks: readonly C[]) => readonly C[]): Track {
  if (track.kind === "http") {
    const response = responseOf(track);
    const at = response.at ?? 0;
    const reader = openBody(response.body, response.style, { at });
    const chunks: Chunk[] = [];
    for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) chunks.push(chunk);
    const media = response.headers?.find(([name]) => name.toLowerCase() === "content-type")?.[1];
    const head = without(response, "body", "style");
    return { ...track, response: { ...head, ...frameBody({ chunks: change(chunks), media }, { at }) } } as HttpTrack;
  }
  const reader = openFrames((track as { frames?: readonly Frame[] }).frames ?? [], styleOf(track));
  const runs: SentChunk[][] = [];
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) {
    const last = runs.at(-1);
    if (last?.[0]?.from === chunk.from) last.push(chunk);
    else runs.push([chunk]);
  }
  const chunks = runs.flatMap((run) =>
    isPipe(run[0]?.from ?? "server") && run[0]?.from !== "stdin" ? change(run) : run,
  );
  return { ...without(track as ProcessTrack, "frames", "style"), ...frameSent(chunks) } as Track;
}

function torn<C extends Chunk>(chunk: C, size: number): readonly C[] {
  const { bytes } = chunk;
  if (bytes.length <= size) return [chunk];
  const rest = without(chunk, "after");
  const pieces: C[] = [];
  for (let from = 0; from < bytes.length; from += size) {
    pieces.push({ ...(from === 0 ? chunk : rest), bytes: bytes.slice(from, from + size) } as C);
  }
  return pieces;
}

// What comes at once comes when the last of it may: at its time, and behind all of the gates.
function coalesced<C extends Chunk>(chunks: readonly C[]): C {
  const last = chunks.at(-1) as C;
  const gates = chunks.flatMap(({ after }) => (after === undefined ? [] : [after]));
  return {
    ...without(last, "after"),
    bytes: concatBytes(chunks.map(({ bytes }) => bytes)),
    ...(gates.length > 0 && { after: allOf(gates) }),
  } as C;
}

function allOf(gates: readonly Gate[]): Gate {
  const ids = gates.flatMap((gate) =>
    typeof gate === "string" ? [gate] : Array.isArray(gate) ? (gate as string[]) : [],
  );
  // A pattern cannot be joined with another gate; the last one waits for what the others did, in any real recording.
  return ids.length === 0 ? (gates.at(-1) as Gate) : ids.length === 1 ? (ids[0] as string) : [...new Set(ids)];
}

function delayed(track: Track, from: number, ms: number): Track {
  const start = track.kind === "http" ? (track.response?.at ?? 0) : 0;
  let at = start + (from === 0 ? ms : 0);
  const frames = answerFrames(track);
  const late = (frame: Frame, isLate: boolean): Frame => {
    const cuts = frame.cuts?.map(([offset, time, ...gate]) => [offset, time + (isLate ? ms : 0), ...gate] as never);
    const own = cuts === undefined ? frame : { ...frame, cuts };
    if (frame.joined === true) return own; // it comes with the frame before it
    at = frame.at === undefined ? at : frame.at + (isLate ? ms : 0);
    return { ...own, at };
  };
  const later = (outcome: { readonly at?: number | undefined } | undefined): object | undefined =>
    outcome && { ...outcome, at: (outcome.at ?? at) + ms };
  if (track.kind === "http") {
    const { response, fault } = track;
    if (response === undefined) return { ...track, ...(fault && { fault: later(fault) as typeof fault }) };
    const body = frames.length === 0 ? {} : { body: frames.map((frame, i) => late(frame, i >= from - 1)) };
    const head = from === 0 && response.at !== undefined ? { at: response.at + ms } : from === 0 ? { at: ms } : {};
    return {
      ...track,
      response: { ...response, ...head, ...body, ...(response.end && { end: later(response.end) as End }) },
    };
  }
  const moved = withFrames(track, (all) => all.map((frame, i) => late(frame, i >= from - 1)));
  const outcomes = Object.fromEntries(
    (["result", "error", "close", "fault", "end"] as const).flatMap((key) => {
      const outcome = (track as Partial<Record<typeof key, { at?: number }>>)[key];
      return outcome === undefined ? [] : [[key, later(outcome)]];
    }),
  );
  return { ...moved, ...outcomes } as Track;
}

function failedOnce(track: HttpTrack, status: number, body: Json | undefined): HttpTrack {
  const json = body ?? { error: { message: `status ${status}, once`, type: "fault" } };
  return {
    ...without(track, "after", "repeat", "optional", "fault", "end"),
    id: `${track.id}-status-${status}`,
    response: {
      at: track.response?.at ?? 0,
      status,
      seen: "decoded",
      headers: [["content-type", "application/json"]],
      body: { json },
    },
  };
}

/** A frame with its JSON cut in the middle; `undefined` where it holds none. */
function malformed(frame: Frame, style: Style | undefined): Frame | undefined {
  const { sse } = frame;
  const whole = sse === undefined ? contentText(without(frame, "pad"), style) : jsonOf(sse.json, frame.style ?? style);
  const [, json = "", tail = ""] = /^\s*([[{"][\s\S]*?)(\s*)$/.exec(whole ?? "") ?? [];
  if (json.length < 2) return undefined;
  const cut = json.slice(0, Math.ceil(json.length / 2));
  if (sse === undefined) return { ...placeOf(frame), text: `${cut}${tail}` };
  const fields = Object.entries(sse).map(([key, value]) => (key === "json" ? ["data", cut] : [key, value]));
  return { ...placeOf(frame), ...(frame.style && { style: frame.style }), sse: Object.fromEntries(fields) };
}

function jsonOf(tree: Json | undefined, style: Style | undefined): string | undefined {
  return tree === undefined ? undefined : encodeJson(tree, style?.json);
}
