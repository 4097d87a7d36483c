import type { Json, Track } from "./schema.ts";

/**
 * What can go wrong on the way of a recorded answer. Each names a track; `frame` counts the frames of the answer from 1,
 * in the order of the file. `sweep` makes a cassette of each, a deck takes them as an overlay (`faults`).
 */
export type Fault =
  /** The answer ends in good order after this frame; 0: before the first. */
  | { readonly type: "cut"; readonly track: string; readonly frame: number }
  /** The connection is reset in the middle of this frame; `bytes` of it arrive, default half. */
  | { readonly type: "reset"; readonly track: string; readonly frame: number; readonly bytes?: number }
  /** The bytes arrive in chunks of this size, default 1; frames and characters are torn where they happen to be. */
  | { readonly type: "tear"; readonly track: string; readonly size?: number }
  /** Everything arrives at once. */
  | { readonly type: "coalesce"; readonly track: string }
  /** This frame comes twice. */
  | { readonly type: "duplicate"; readonly track: string; readonly frame: number }
  /** This frame, and what follows it, comes so many milliseconds later; 0: the head. Seen with `timing: "recorded"`. */
  | { readonly type: "delay"; readonly track: string; readonly frame: number; readonly ms: number }
  /** The first request is answered with this status, the next one with what was recorded. */
  | { readonly type: "status"; readonly track: string; readonly status: number; readonly body?: Json }
  /** The answer has no body. */
  | { readonly type: "empty"; readonly track: string }
  /** The JSON of this frame is cut in the middle. */
  | { readonly type: "malformed"; readonly track: string; readonly frame: number };

export type FaultType = Fault["type"];

/** The types of faults, in the order in which a sweep makes them. */
export const FAULT_TYPES: readonly FaultType[] = [
  "cut",
  "reset",
  "tear",
  "coalesce",
  "duplicate",
  "delay",
  "status",
  "empty",
  "malformed",
];

/** A fault in a few words: what a derived cassette is named for. */
export function describeFault(fault: Fault): string {
  switch (fault.type) {
    case "cut":
      return fault.frame === 0 ? "cut before the first frame" : `cut after frame ${fault.frame}`;
    case "reset":
      return `reset in the middle of frame ${fault.frame}`;
    case "tear":
      return fault.size === undefined || fault.size === 1
        ? "torn at every byte"
        : `torn into chunks of ${fault.size} bytes`;
    case "coalesce":
      return "all chunks in one";
    case "duplicate":
      return `frame ${fault.frame} twice`;
    case "delay":
      return `${fault.frame === 0 ? "the head" : `frame ${fault.frame}`} ${fault.ms} ms late`;
    case "status":
      return `status ${fault.status} once`;
    case "empty":
      return "empty body";
    case "malformed":
      return `malformed JSON in frame ${fault.frame}`;
  }
}

/** A track in a few words, for the names of derived cassettes. */
export function describeTrack(track: Track): string {
  if (track.kind === "http") {
    const { method, url } = track.request;
    return `${track.id} ${method} ${url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/s, "") || "/"}`;
  }
  if ("call" in track) return `${track.id} ${track.call.name}`;
  if (track.kind === "process") return `${track.id} ${track.open.command}`;
  return `${track.id} ${track.kind}`;
}
