import { checkShape, checkTrackShape } from "../cassette/check.ts";
import { appendTracks } from "../cassette/edit.ts";
import { formatPath } from "../cassette/fault.ts";
import { nestsDeeper } from "../cassette/freeze.ts";
import { limitsOf } from "../cassette/limits.ts";
import { parseCassette } from "../cassette/parse.ts";
import { checkRules } from "../cassette/rules.ts";
import type { Cassette, Json, Track } from "../cassette/schema.ts";
import { formatSealed } from "../cassette/seal.ts";
import { CassetteInvalid } from "../errors.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import { filterGate, mapGates } from "./map-gates.ts";

/** A line of a journal that cannot be used. */
export interface JournalFault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What a journal holds. */
export interface JournalReading {
  /** All of the cassette but its tracks, variables and seal; `undefined` where the first line cannot be read. */
  readonly head: Omit<Cassette, "tracks" | "seal"> | undefined;
  /** The recording extended this cassette, as the recording program named it. */
  readonly extended: string | undefined;
  /** In the order of their numbers. */
  readonly tracks: readonly Track[];
  readonly vars: Readonly<Record<string, Json>>;
  /** Lines that are whole and wrong. A journal that was only cut short has none. */
  readonly faults: readonly JournalFault[];
  /** The last line, where the writer was stopped within it. */
  readonly torn: { readonly line: number; readonly bytes: number } | undefined;
}

/** A cassette that was made from a journal. */
export interface Recovery {
  /** The canonical text, sealed. */
  readonly text: string;
  /** The tracks that came from the journal. */
  readonly tracks: readonly Track[];
  /** Ids that were given out and are not in the journal: open when the recording ended, or never sent. */
  readonly missing: readonly string[];
  /** Gates that named a missing track were taken out: a gate that nothing can open would hold the replay for ever. */
  readonly gates: readonly { readonly track: string; readonly named: readonly string[] }[];
}

/** Reads a journal, `*.recording.jsonl`. Never throws for bad input: each line that cannot be used is a fault. */
export function readJournal(bytes: Uint8Array): JournalReading {
  const faults: JournalFault[] = [];
  const found = new Map<string, { track: Track; line: number }>();
  const vars: Record<string, Json> = {};
  let opening: Opening | undefined;
  let torn: JournalReading["torn"];
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const piece = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    start += piece.length + 1;
    line++;
    const value = parseLine(piece);
    if (value === undefined && newline === -1) {
      torn = { line, bytes: piece.length };
      break;
    }
    const message = value === undefined ? "is not a line of JSON" : take(value);
    if (message !== undefined) faults.push({ line, message });
  }
  return {
    head: opening?.head,
    extended: opening?.extended,
    tracks: [...found.values()].map(({ track }) => track).sort((a, b) => numberOf(a.id, LAST) - numberOf(b.id, LAST)),
    vars,
    faults,
    torn,
  };

  function take(value: unknown): string | undefined {
    if (line === 1) {
      const head = readHead(value);
      if (typeof head === "string") return head;
      opening = head;
      return undefined;
    }
    if (isObject(value) && "var" in value) {
      const { var: name, value: recorded } = value;
      const fault = checkShape({ wiretape: 1, vars: { [String(name)]: recorded ?? null }, tracks: [] })[0];
      if (typeof name !== "string" || fault !== undefined)
        return `is not a variable: ${fault?.message ?? "it has no name"}`;
      vars[name] = (recorded ?? null) as Json;
      return undefined;
    }
    const fault = trackFault(value);
    if (fault !== undefined) return fault;
    const track = value as Track;
    const first = found.get(track.id);
    if (first !== undefined) return `is track "${track.id}" again; the first is on line ${first.line}`;
    found.set(track.id, { track, line });
    return undefined;
  }
}

/**
 * The cassette of a journal. `base`: the text of the cassette that the recording extended, to which the tracks are
 * added; its own tracks keep their states. CassetteInvalid where there is no track to recover, where the base cannot be
 * read, and where it has one of the tracks already.
 */
export function recoverCassette(reading: JournalReading, base?: string): Recovery {
  if (reading.tracks.length === 0)
    throw new CassetteInvalid(
      "The journal has no complete track, so there is nothing to recover.\n  next      record again; a track is journalled when it is complete",
    );
  const before = base === undefined ? [] : parseCassette(base).tracks.map((track) => track.id);
  const own = reading.tracks.map((track) => track.id);
  const there = new Set(before);
  const twice = own.filter((id) => there.has(id));
  if (twice.length > 0)
    throw new CassetteInvalid(
      `The cassette that the recording extended has ${twice.map((id) => `"${id}"`).join(", ")} already.\n  next      if it was recovered before, delete the journal; else give the tracks of one of the two other ids`,
      { tracks: twice },
    );
  const known = new Set(["start", ...before, ...own]);
  const gates: { track: string; named: string[] }[] = [];
  const tracks = reading.tracks.map((track) => {
    const named: string[] = [];
    const kept = mapGates(track, (gate) => filterGate(gate, (id) => known.has(id) || named.push(id) === 0));
    if (named.length > 0) gates.push({ track: track.id, named: [...new Set(named)] });
    return kept;
  });
  const missing: string[] = [];
  for (let n = 1 + highest(before); n < highest(own); n++) if (!known.has(`t${n}`)) missing.push(`t${n}`);
  const text = base === undefined ? freshText(reading, tracks) : appendTracks(base, tracks, reading.vars);
  return { text, tracks, missing, gates };
}

function freshText({ head, vars }: JournalReading, tracks: readonly Track[]): string {
  const origins = [...new Set(tracks.flatMap((track) => (track.kind === "http" ? originOf(track.request.url) : [])))];
  const recorded = { ...head?.recorded, ...(origins.length > 0 && { origins }) };
  return formatSealed({
    wiretape: 1,
    ...head,
    ...(Object.keys(recorded).length > 0 && { recorded }),
    ...(Object.keys(vars).length > 0 && { vars }),
    tracks,
  });
}

function originOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).origin] : [];
}

type Opening = Pick<JournalReading, "head" | "extended">;

function readHead(value: unknown): Opening | string {
  if (!isObject(value) || !("wiretape" in value)) return "is not the head of a recording, with which a journal begins";
  const { extends: extended, ...head } = value;
  const fault = checkShape({ ...head, tracks: [] })[0];
  if (fault !== undefined || (extended !== undefined && typeof extended !== "string"))
    return `is not the head of a recording: ${fault === undefined ? '"extends" is not a text' : `${formatPath(fault.path)}: ${fault.message}`}`;
  return { head: head as unknown as JournalReading["head"], extended };
}

function trackFault(value: unknown): string | undefined {
  const { depth } = limitsOf({});
  if (nestsDeeper(value, depth)) return `nests deeper than the limit of ${depth}`;
  const [shape] = checkTrackShape(value, []);
  if (shape !== undefined) return `is not a track: ${place(shape.path)}${shape.message}`;
  // A gate names other tracks, which may be on any line or lost: gates are looked at when all lines are known.
  const alone = mapGates(value as Track, () => undefined);
  const [rule] = checkRules({ wiretape: 1, tracks: [alone] });
  return rule && `is not a valid track: ${place(rule.path.slice(2))}${rule.message}`;
}

function place(path: readonly (string | number)[]): string {
  return path.length === 0 ? "" : `${formatPath(path)}: `;
}

function parseLine(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // torn, or not a line of a journal: the caller says which
  }
}

const LAST = Number.MAX_SAFE_INTEGER;

/** The number in an id that a recorder gave. */
function numberOf(id: string, otherwise: number): number {
  return Number(/^t(\d{1,9})$/.exec(id)?.[1] ?? otherwise);
}

function highest(ids: readonly string[]): number {
  return ids.reduce((most, id) => Math.max(most, numberOf(id, 0)), 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
