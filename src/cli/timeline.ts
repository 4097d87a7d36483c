import type { End, Frame, Gate, StoredError, Style, Track } from "../cassette/schema.ts";
import { bodyFrames, contentForm, frameContent, frameSize, framesOf } from "./frame-content.ts";
import { errorText, gateText } from "./track-facts.ts";

/** One thing that happened in a track. Times are milliseconds since the track's start. */
export interface Moment {
  readonly what: "request" | "head" | "frame" | "result" | "error" | "end" | "close";
  /** Absent on joined frames, which came with the frame before. */
  readonly at?: number;
  readonly from?: string;
  /** The content key of a frame. */
  readonly form?: string;
  readonly content: string;
  readonly bytes?: number;
  readonly after?: string;
  readonly joined?: true;
  /** Chunk boundaries inside the frame: at which byte, and when the rest came. */
  readonly cuts?: readonly { readonly offset: number; readonly at: number; readonly after?: string }[];
  readonly note?: string;
}

/** Everything that happened in a track, in order. */
export function timeline(track: Track): Moment[] {
  const { frames, style } = framesOf(track);
  const moments: Moment[] = [];
  if (track.kind === "http") {
    const { request, response } = track;
    moments.push(
      ...bodyFrames(request.body).map(
        (frame): Moment => ({ ...frameMoment(frame, request.style, 0), what: "request" }),
      ),
    );
    if (response !== undefined) {
      const { at = 0, after, note, status, reason } = response;
      const content = reason === undefined ? String(status) : `${status} ${reason}`;
      moments.push({ what: "head", at, content, ...remarks(after, note) });
      moments.push(...frameMoments(frames, style, at));
    }
    pushError(moments, track.fault);
    pushEnd(moments, response?.end ?? track.end);
  } else if ("call" in track) {
    const { call, result } = track;
    if (call.input !== undefined)
      moments.push({ what: "request", at: 0, form: "value", content: JSON.stringify(call.input) });
    moments.push(...frameMoments(frames, style, 0));
    if (result !== undefined)
      moments.push({
        what: "result",
        at: result.at ?? lastAt(moments),
        content: JSON.stringify(result.value ?? null),
        ...remarks(result.after, result.note),
      });
    pushError(moments, track.error);
    pushEnd(moments, track.end);
  } else {
    moments.push(...frameMoments(frames, style, 0));
    const { close } = track;
    if (close !== undefined) {
      const { at, after, note, ...how } = close;
      const content = Object.entries(how).flatMap(([key, value]) => (value === null ? [] : [`${key} ${value}`]));
      moments.push({ what: "close", at: at ?? lastAt(moments), content: content.join(", "), ...remarks(after, note) });
    }
    pushError(moments, track.fault);
    pushEnd(moments, track.end);
  }
  return moments;
}

function frameMoments(frames: readonly Frame[], style: Style | undefined, start: number): Moment[] {
  let at = start;
  return frames.map((frame) => {
    at = frame.at ?? at;
    const moment = frameMoment(frame, style, at);
    at = frame.cuts?.at(-1)?.[1] ?? at;
    return moment;
  });
}

function frameMoment(frame: Frame, style: Style | undefined, at: number): Moment {
  const { from, joined, cuts, binary } = frame;
  const bytes = frameSize(frame, frame.style ?? style);
  return {
    what: "frame",
    ...(joined === undefined && { at }),
    ...(from !== undefined && { from }),
    form: binary === undefined ? contentForm(frame) : `binary ${contentForm(frame)}`,
    content: frameContent(frame),
    ...(bytes !== undefined && { bytes }),
    ...(joined !== undefined && { joined }),
    ...(cuts !== undefined && {
      cuts: cuts.map(([offset, time, after]) => ({
        offset,
        at: time,
        ...(after !== undefined && { after: gateText(after) }),
      })),
    }),
    ...remarks(frame.after, frame.note),
  };
}

function pushError(moments: Moment[], error: StoredError | undefined): void {
  if (error === undefined) return;
  moments.push({
    what: "error",
    at: error.at ?? lastAt(moments),
    content: errorText(error),
    ...remarks(undefined, error.note),
  });
}

function pushEnd(moments: Moment[], end: End | undefined): void {
  if (end === undefined) return;
  const content = end.error === undefined ? "the program left; the stream stays open" : errorText(end.error);
  moments.push({ what: "end", at: end.at ?? lastAt(moments), content, ...remarks(end.after, end.note) });
}

function remarks(after: Gate | undefined, note: string | undefined): Pick<Moment, "after" | "note"> {
  return { ...(after !== undefined && { after: gateText(after) }), ...(note !== undefined && { note }) };
}

function lastAt(moments: readonly Moment[]): number {
  return moments.reduce((last, { at, cuts }) => cuts?.at(-1)?.at ?? at ?? last, 0);
}
