import type { Json } from "../cassette/schema.ts";
import { printable } from "../errors.ts";
import type { Difference } from "./nearest.ts";

/**
 * The wording of what the engine reports: pure functions from facts to text. A message says what happened, where, what
 * is nearest and how it differs, and what to do next. No text here may read like a time limit that ran out: SDKs take
 * such a text for their own timeout and drop the cause. What comes from a cassette or a request may not look like a line
 * of ours: each line is made printable as a whole.
 */

/** A recorded track, for messages. `line` 0: not known (the cassette is a value). */
export interface TrackPlace {
  readonly id: string;
  readonly line: number;
  readonly summary?: string | undefined;
}

/** The cassette, lane and counts that every miss names. */
export interface Scene {
  readonly cassette: string;
  readonly lane: string | undefined;
  readonly tracks: number;
  readonly left: number;
}

/** The recorded request that comes nearest, and how it differs. */
export interface Nearest {
  readonly track: TrackPlace;
  readonly differences: readonly Difference[];
}

export function exhaustedText(facts: {
  request: string;
  scene: Scene;
  recorded: number;
  asked: number;
  playedBy: readonly { track: TrackPlace; request: number }[];
  /** The track that was played last, where that tells something. */
  last: TrackPlace | undefined;
  nearest: Nearest | undefined;
  /** The part of the lane that is over, where it is not all of it: whatever is asked of it is past its end. */
  script?: { readonly name: string; readonly unit: string; readonly tracks: number } | undefined;
  /** Requests that the program gave up before any part of the answer came; their claims were given back. */
  givenUp: number;
}): string {
  const { request, scene, recorded, asked, playedBy, last, givenUp } = facts;
  const { name, unit, tracks } = facts.script ?? { name: laneName(scene), unit: "track", tracks: scene.tracks };
  const happened =
    recorded > 0
      ? `${request} was recorded ${times(recorded)} and is asked for ${ordinal(asked)} time.`
      : `${request} is past the end of the recording: ${tracks === 1 ? `the one ${unit} of ${name} was` : `all ${tracks} ${unit}s of ${name} were`} played.`;
  return lines(
    happened,
    where(scene),
    playedBy.length > 0 &&
      `  played    ${shorten(playedBy.map(({ track, request: n }) => `${place(track)} answered request ${n}`))}`,
    givenUp > 0 &&
      `  given up  ${givenUp === 1 ? "1 request" : `${givenUp} requests`} before any part of the answer came`,
    last !== undefined && `  last      ${place(last)} was the last one played`,
    ...nearestLines(facts.nearest),
    recorded > 0
      ? '  next      if the program should ask once less, look for the loop or retry that asks again; if it may ask so often, give the track "repeat": N; else record again with WIRETAPE_MODE=rerecord'
      : "  next      look for what asks more than was recorded, add a track by hand, or record more with WIRETAPE_MODE=extend",
  );
}

export function unrecordedText(facts: { request: string; scene: Scene; nearest: Nearest | undefined }): string {
  return lines(
    `${facts.request} was never recorded.`,
    where(facts.scene),
    ...nearestLines(facts.nearest),
    '  next      make the request as it was recorded, put what may differ into match.ignore (for example "/body/requestId"), or record it with WIRETAPE_MODE=extend',
  );
}

export function outOfOrderText(facts: {
  request: string;
  scene: Scene;
  found: TrackPlace;
  expected: TrackPlace | undefined;
}): string {
  return lines(
    `${facts.request} is recorded as ${place(facts.found)}, but it is not its turn.`,
    where(facts.scene),
    facts.expected !== undefined && `  expected  ${place(facts.expected)} comes next in ${laneName(facts.scene)}`,
    '  next      make the requests in the recorded order, give concurrent parts lanes of their own (deck.lane("name")), or use match.order "identity"',
  );
}

export function stalledText(facts: {
  cassette: string;
  held: readonly { track: TrackPlace; what: string; waitsFor: string }[];
  seconds: number;
}): string {
  const [first] = facts.held;
  return lines(
    `The replay stands still: ${first === undefined ? "nothing" : `${first.what} of ${place(first.track)}`} is held by a gate that nothing has opened for ${facts.seconds === 1 ? "1 second" : `${facts.seconds} seconds`}.`,
    `  cassette  ${facts.cassette}`,
    ...facts.held
      .slice(0, 10)
      .map(({ track, what, waitsFor }) => `  waits     ${what} of ${place(track)} waits for ${waitsFor}`),
    facts.held.length > 10 && `            and ${facts.held.length - 10} more`,
    '  next      make the request that is waited for, or take the "after" out of the cassette; a program that is only slow needs a larger stallAfterMs',
  );
}

export function unplayedText(facts: { scene: Scene; unplayed: readonly TrackPlace[] }): string {
  const { unplayed, scene } = facts;
  const them = unplayed.length === 1 ? "it" : "them";
  return lines(
    `${unplayed.length === 1 ? "A recorded track was" : `${unplayed.length} recorded tracks were`} never asked for.`,
    `  cassette  ${scene.cassette} (${scene.tracks - scene.left} of ${scene.tracks} tracks played)`,
    ...unplayed.slice(0, 10).map((track) => `  unplayed  ${place(track)}`),
    unplayed.length > 10 && `            and ${unplayed.length - 10} more`,
    `  next      if the program should not ask for ${them} any more, record again with WIRETAPE_MODE=rerecord or delete ${them}; if it may leave ${them} out, mark ${them} "optional": true; or open the deck with unplayed: "ignore"`,
  );
}

export function violationsText(messages: readonly string[]): string {
  return lines(
    `The deck saw ${messages.length} violations. The first:`,
    ...(messages[0] ?? "").split("\n"),
    ...messages.slice(1, 5).map((message) => `also: ${message.split("\n")[0]}`),
    messages.length > 5 && `and ${messages.length - 5} more, in error.details.violations`,
  );
}

export function missingText(facts: { path: string; mode: string; reason: string }): string {
  return lines(
    `There is no cassette at ${facts.path}, and the mode is ${facts.mode} (${facts.reason}).`,
    "  next      record it: run once with WIRETAPE_MODE=record, or outside CI with no mode at all",
  );
}

export function existsText(path: string): string {
  return lines(
    `${path} exists, and a recording is never written over another.`,
    "  next      replay it (mode auto or replay), add to it (extend), or replace it on purpose (WIRETAPE_MODE=rerecord)",
  );
}

/** Each part is one line. */
function lines(...parts: (string | false | undefined)[]): string {
  return parts
    .filter((part): part is string => typeof part === "string" && part !== "")
    .map(printable)
    .join("\n");
}

function where(scene: Scene): string {
  const lane = scene.lane === undefined ? "" : `, lane ${scene.lane}`;
  return `  cassette  ${scene.cassette}${lane} (${scene.tracks} ${scene.tracks === 1 ? "track" : "tracks"}, ${scene.left} not yet played)`;
}

function laneName(scene: Scene): string {
  return scene.lane === undefined ? "the main lane" : `lane ${scene.lane}`;
}

/** A track as messages name it. */
export function place(track: TrackPlace): string {
  const line = track.line > 0 ? ` (line ${track.line})` : "";
  return printable(`track ${track.id}${line}${track.summary === undefined ? "" : ` ${track.summary}`}`);
}

function nearestLines(nearest: Nearest | undefined): string[] {
  if (nearest === undefined) return [];
  return [
    `  nearest   ${place(nearest.track)}, which differs in ${nearest.differences.length === 1 ? "one place" : `${nearest.differences.length} places`}:`,
    ...differenceLines(nearest.differences),
  ];
}

/** Where two things differ, a line each, the first few. */
export function differenceLines(differences: readonly Difference[]): string[] {
  const shown = differences.slice(0, 5).map((difference) => {
    const { path, recorded, asked } = difference;
    const was = recorded === undefined ? "not recorded" : `recorded ${brief(recorded)}`;
    return printable(`              ${path}: ${was}, ${asked === undefined ? "absent now" : `now ${brief(asked)}`}`);
  });
  const more = differences.length - shown.length;
  return more > 0 ? [...shown, `              and ${more} more`] : shown;
}

function brief(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 80 ? text : `${text.slice(0, 60)}… (${text.length} characters)`;
}

function shorten(items: readonly string[]): string {
  return items.length <= 5 ? items.join(", ") : `${items.slice(0, 4).join(", ")}, … and ${items.length - 4} more`;
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function ordinal(n: number): string {
  const tens = n % 100;
  const suffix = tens >= 11 && tens <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${/^(8|11$|18$)/.test(String(n)) ? "an" : "a"} ${n}${suffix}`;
}
