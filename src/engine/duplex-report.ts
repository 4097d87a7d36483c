import type { Json } from "../cassette/schema.ts";
import type { Difference } from "./nearest.ts";
import { differenceLines, place, type TrackPlace } from "./report.ts";

/** The wording of what can go wrong in a conversation: pure functions, as in report.ts. */

interface Where {
  readonly cassette: string;
  readonly track: TrackPlace;
}

/** What the program sent is not what was recorded. */
export function mismatchText(
  facts: Where & {
    /** What the program sent, and which of its frames it is, from 1. */
    readonly sent: string;
    readonly number: number;
    /** The recorded one that comes nearest, and its number in the track. */
    readonly expected: string;
    readonly frame: number;
    readonly differences: readonly Difference[];
    /** Whether the order counts: then the expected one was next. */
    readonly sequence: boolean;
  },
): string {
  const { cassette, track, sent, number, expected, frame, differences, sequence } = facts;
  return [
    `The program sent ${sent} as its frame ${number}, and that is not what was recorded.`,
    `  cassette  ${cassette}, ${place(track)}`,
    `  ${sequence ? "expected " : "nearest  "} frame ${frame}: ${expected}`,
    ...differenceLines(differences),
    '  next      send what was recorded, put what may differ into match.ignore (for example "/frame/id"), edit the frame in the cassette, or record again',
  ].join("\n");
}

/** The program sent more than was recorded. */
export function framesExhaustedText(
  facts: Where & {
    readonly sent: string;
    /** How many frames of the program's were recorded, and which one this is. */
    readonly recorded: number;
    readonly number: number;
    /** How often this very frame was recorded, where it was. */
    readonly same: number;
  },
): string {
  const { cassette, track, sent, recorded, number, same } = facts;
  const all =
    recorded === 0
      ? "none of its frames was recorded"
      : recorded === 1
        ? "its one recorded frame has come"
        : `${number > recorded ? `all ${recorded} of its recorded frames have come` : `it was recorded ${same === 1 ? "once" : `${same} times`}`}`;
  return [
    `The program sent ${sent} as its frame ${number}, and ${all}.`,
    `  cassette  ${cassette}, ${place(track)}`,
    "  next      look for what sends once more than was recorded, add a frame by hand, or record again with WIRETAPE_MODE=rerecord",
  ].join("\n");
}

/** Something that was sent, in a few words. */
export function briefFrame(json: Json | undefined, text: string | undefined, size: number): string {
  const whole = json !== undefined ? JSON.stringify(json) : text === undefined ? `${size} bytes` : JSON.stringify(text);
  return whole.length <= 120 ? whole : `${whole.slice(0, 100)}… (${size} bytes)`;
}
