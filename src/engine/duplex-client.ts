import type { PlannedChunk } from "../cassette/duplex-plan.ts";
import { FrameMismatch, ScriptExhausted } from "../errors.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import type { Condition } from "./deliveries.ts";
import type { DuplexKind } from "./duplex-kind.ts";
import { createLineCutter } from "./duplex-lines.ts";
import { briefFrame, framesExhaustedText, mismatchText } from "./duplex-report.ts";
import { type IdLinks, linkIds, readUnit, type Unit } from "./duplex-script.ts";
import { nearest } from "./nearest.ts";
import type { Play } from "./play.ts";

/** What the program has to send in a recorded conversation, and how far it is. */
export interface ClientScript {
  /** The condition that everything of the program's has come that lies before a place in the plan. */
  before(place: number): Condition;
  /** The program sends a message, or bytes of its stream. Throws the violation. */
  sent(bytes: Uint8Array, binary: boolean): void;
  /** The program's stream is over. */
  ended(): void;
}

interface RecordedUnit extends Unit {
  readonly binary: boolean;
  /** The index of the frame in which it begins. */
  readonly frame: number;
  came: boolean;
}

/** How much of the program's lies before a chunk: so many units, and so many bytes of the next one. */
interface Progress {
  readonly units: number;
  readonly bytes: number;
}

// How many units an error looks at for the nearest one.
const NEAREST_CANDIDATES = 200;

export function createClientScript(
  play: Play,
  kind: DuplexKind,
  plan: readonly PlannedChunk[],
  links: IdLinks,
  bytesOf: (chunk: PlannedChunk) => Uint8Array,
): ClientScript {
  const { matcher, redactor, name, place: trackPlace } = play.stage;
  const { units, progress } = readScript();
  const waiting = new Map<string, number[]>(); // by identity, in order; only where any may come next
  if (kind.order === "any") {
    for (const [index, { identity }] of units.entries()) {
      const queue = waiting.get(identity);
      if (queue === undefined) waiting.set(identity, [index]);
      else queue.push(index);
    }
  }
  const lines = createLineCutter();
  /** The first unit that has not come. */
  let missing = 0;
  /** How many have come. */
  let arrived = 0;

  function readScript(): { units: RecordedUnit[]; progress: Progress[] } {
    const units: RecordedUnit[] = [];
    const progress: Progress[] = [];
    const cutter = createLineCutter();
    let begins = 0;
    const add = (bytes: Uint8Array, binary: boolean, frame: number): void => {
      units.push({ ...readUnit(kind, bytes, binary, matcher, play.lane), binary, frame, came: false });
    };
    for (const chunk of plan) {
      progress.push({ units: units.length, bytes: cutter.begun });
      if (chunk.from !== kind.client) continue;
      const frame = chunk.pieces[0].frame;
      if (kind.unit === "message") add(bytesOf(chunk), chunk.binary, frame);
      else {
        if (cutter.begun === 0) begins = frame;
        for (const line of cutter.push(bytesOf(chunk))) {
          add(line, false, begins);
          begins = frame;
        }
      }
    }
    progress.push({ units: units.length, bytes: cutter.begun });
    const rest = cutter.take();
    if (rest !== undefined) add(rest, false, begins);
    return { units, progress };
  }

  function take(bytes: Uint8Array, binary: boolean): void {
    const unit = readUnit(kind, bytes, binary, matcher, play.lane, { redactor, links });
    const index = kind.order === "any" ? waiting.get(unit.identity)?.[0] : missing;
    const recorded = index === undefined ? undefined : units[index];
    if (recorded === undefined || recorded.identity !== unit.identity) throw fail(unit, recorded);
    if (kind.order === "any") (waiting.get(unit.identity) as number[]).shift();
    recorded.came = true;
    arrived++;
    while (units[missing]?.came === true) missing++;
    linkIds(kind, links, recorded.json, unit.json);
    play.note({
      kind: "frame",
      boundary: kind.boundary,
      from: kind.client,
      ...(unit.json === undefined ? {} : kind.event?.(unit.json)),
    });
  }

  function fail(unit: Unit, expected: RecordedUnit | undefined): Error {
    const track = trackPlace(play.track.id);
    const where = { cassette: name, track, sent: brief(unit), number: arrived + 1 };
    const same = units.filter(({ identity }) => identity === unit.identity).length;
    const details = { cassette: name, track: play.track.id, frame: arrived + 1 };
    const left = units.filter(({ came }) => !came);
    if (left.length === 0 || (expected === undefined && same > 0)) {
      const text = framesExhaustedText({ ...where, recorded: units.length, same });
      const error = new ScriptExhausted(redactor.text(text), {
        ...details,
        recorded: units.length,
        asked: arrived + 1,
      });
      return play.stage.fail(error, `${play.track.id} ${unit.identity}`);
    }
    const candidates = (expected === undefined ? left.slice(0, NEAREST_CANDIDATES) : [expected]).map((candidate) => ({
      candidate,
      facets: matcher.compared(candidate.facets),
    }));
    const found = nearest(candidates, matcher.compared(unit.facets)) as NonNullable<
      ReturnType<typeof nearest<(typeof candidates)[number]>>
    >;
    const near = found.candidate.candidate;
    const text = mismatchText({
      ...where,
      expected: brief(near),
      frame: near.frame + 1,
      differences: found.differences,
      sequence: kind.order === "sequence",
    });
    const more = { ...details, expected: near.frame + 1, differences: found.differences };
    return play.stage.fail(new FrameMismatch(redactor.text(text), more), `${play.track.id} ${unit.identity}`);
  }

  // What a line that is not complete is compared with: a recorded one that never was complete either.
  function takeFragment(): void {
    const recorded = units[missing];
    if (recorded === undefined || missing !== units.length - 1 || recorded.bytes.at(-1) === 0x0a) return;
    if (lines.begun < recorded.bytes.length) return;
    take(lines.take() as Uint8Array, false);
  }

  return {
    before(place) {
      const { units: needed, bytes } = progress[place] as Progress;
      return {
        get met() {
          return missing > needed || (missing === needed && (bytes === 0 || lines.begun >= bytes));
        },
        describe() {
          const unit = units[missing];
          return unit === undefined
            ? "what the program sends"
            : `the program to send frame ${unit.frame + 1}: ${brief(unit)}`;
        },
      };
    },
    sent(bytes, binary) {
      if (kind.unit === "message") {
        take(bytes, binary);
        return;
      }
      for (const line of lines.push(bytes)) take(line, false);
      const begun = lines.begun;
      takeFragment();
      // A part of a line opens what was delivered after it: whoever waits is told.
      if (begun > 0 && lines.begun === begun) play.note({ kind: "frame", boundary: kind.boundary, from: kind.client });
    },
    ended() {
      const rest = lines.take();
      if (rest !== undefined) take(rest, false);
    },
  };
}

function brief({ json, bytes }: Unit): string {
  return briefFrame(json, decodeUtf8(bytes), bytes.length);
}
