import type { CassetteIndex } from "./cassette-index.ts";
import { checkShape, checkTrackShape } from "./check.ts";
import { type Fault, formatPath } from "./fault.ts";
import { deepFreeze, nestsDeeper } from "./freeze.ts";
import { cassetteInvalid } from "./invalid.ts";
import { type Limits, tooDeep, tooMany } from "./limits.ts";
import type { Cassette, Track, TrackKind } from "./schema.ts";
import { readSealedText } from "./sealed-text.ts";
import { markSound } from "./sound.ts";

// In the canonical layout nothing else can stand on such lines: texts hold no raw line break, and whatever nests deeper
// is indented deeper.
const tracksLine = '\n  "tracks": [';
const tracksEnd = "\n  ],\n";
const trackLine = "\n    {\n";
const firstLine = / {6}"id": "([\w.-]+)", "kind": "([a-z]+)"(?:, "at": (\d+))?(?:, "lane": "([\w.-]+)")?[,\n]/y;

/** How many tracks are kept parsed of those that were last read. */
const recentTracks = 64;

interface Entry {
  readonly id: string;
  readonly kind: TrackKind;
  readonly at: number;
  readonly lane: string | undefined;
  /** The offsets of the track's own text. */
  readonly start: number;
  readonly end: number;
}

/** The index over a text that is as we printed it; `undefined` for any other text. */
export function indexSealedText(
  text: string,
  bytes: Uint8Array | undefined,
  path: string | undefined,
  limits: Limits,
): CassetteIndex | undefined {
  const sealed = readSealedText(text, bytes);
  if (sealed === undefined) return undefined;
  const headEnd = text.indexOf(tracksLine);
  const head = headEnd === -1 ? undefined : readHead(text.slice(0, headEnd), limits);
  const entries = scan(text, headEnd, sealed.sealOffset);
  if (head === undefined || entries === undefined) return undefined;
  const line = lineCounter(text, entries);
  if (entries.length > limits.tracks)
    throw cassetteInvalid(path, [{ line: 1, column: 1, path: "tracks", message: tooMany(entries.length, limits) }]);

  const tracks: (Track | undefined)[] = [];
  const recent: ({ i: number; track: Track } | undefined)[] = new Array(recentTracks).fill(undefined);
  let places: Map<string, number> | undefined;
  let whole: Cassette | undefined;
  const entry = (i: number): Entry => {
    const found = entries[i];
    if (found === undefined) throw new RangeError(`there is no track ${i}; the cassette has ${entries.length}`);
    return found;
  };

  function read(i: number): Track {
    const { start, end } = entry(i);
    const faults: Fault[] = [];
    const track = parseTrack(text.slice(start, end), i, limits, faults);
    if (faults.length === 0) return track as Track;
    // Only a forged checksum leads here: a track is checked before its checksum is stamped.
    const at = { line: line(i), column: 5 };
    throw cassetteInvalid(
      path,
      faults.map((fault) => ({ ...at, path: formatPath(fault.path), message: fault.message })),
    );
  }
  // A replay reads a track once or twice in a row and hands none out. So what it reads is neither frozen (which costs
  // half as much as parsing) nor kept for good (which makes the memory of a long replay old, and costly to collect);
  // what is asked for by name is both.
  const peek = (i: number): Track => {
    const kept = tracks[i];
    if (kept !== undefined) return kept;
    const slot = recent[i % recent.length];
    if (slot?.i === i) return slot.track;
    const track = read(i);
    recent[i % recent.length] = { i, track };
    return track;
  };
  const track = (i: number): Track => (tracks[i] ??= deepFreeze(peek(i)));

  return {
    size: entries.length,
    head,
    seal: deepFreeze(sealed.seal),
    canonical: true,
    text,
    id: (i) => entry(i).id,
    kind: (i) => entry(i).kind,
    lane: (i) => entry(i).lane,
    at: (i) => entry(i).at,
    method: (i) => (entry(i).kind === "http" ? textAfter(text, entry(i), requestKey, methodKey)?.value : undefined),
    url: (i) => urlOf(text, entry(i)),
    name: (i) => {
      const { kind } = entry(i);
      if (kind === "process") return textAfter(text, entry(i), openKey, commandKey)?.value;
      return callKinds.has(kind) ? textAfter(text, entry(i), callKey, nameKey)?.value : undefined;
    },
    track,
    peek,
    line,
    indexOf: (id) => (places ??= new Map(entries.map((e, i) => [e.id, i]))).get(id) ?? -1,
    cassette: () =>
      (whole ??= markSound(
        Object.freeze(
          assemble(
            head,
            sealed.seal,
            entries.map((_, i) => track(i)),
          ),
        ),
      )),
  };
}

function assemble(head: CassetteIndex["head"], seal: Cassette["seal"], tracks: readonly Track[]): Cassette {
  return { ...head, tracks: Object.freeze(tracks), ...(seal !== undefined && { seal }) };
}

function readHead(text: string, limits: Limits): CassetteIndex["head"] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(`${text}"tracks":[]}`);
  } catch {
    return undefined; // no text of ours: the careful path says where
  }
  if (nestsDeeper(value, limits.depth) || checkShape(value).length > 0) return undefined;
  const { tracks: _, ...head } = value as Cassette;
  return deepFreeze(head);
}

function scan(text: string, headEnd: number, sealOffset: number): Entry[] | undefined {
  const entries: Entry[] = [];
  let time = 0;
  const listEnd = text.lastIndexOf(tracksEnd, sealOffset);
  let next = headEnd === -1 ? -1 : text.indexOf(trackLine, headEnd);
  while (next !== -1 && next < listEnd) {
    const start = next + 1;
    next = text.indexOf(trackLine, start);
    // The comma belongs to the list.
    const end = next === -1 || next > listEnd ? listEnd : next - 1;
    firstLine.lastIndex = start + trackLine.length - 1;
    const found = firstLine.exec(text);
    if (found === null) return undefined;
    const [, id = "", kind = "", at, lane] = found;
    if (at !== undefined) time = Number(at);
    entries.push({ id, kind: kind as TrackKind, at: time, lane, start, end });
  }
  return entries;
}

function parseTrack(text: string, i: number, limits: Limits, faults: Fault[]): unknown {
  const path = ["tracks", i];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    faults.push({ path, message: `is not JSON (${(error as Error).message})` });
    return undefined;
  }
  // Two levels are above the track.
  if (nestsDeeper(value, limits.depth - 2)) faults.push({ path, message: tooDeep(limits) });
  else faults.push(...checkTrackShape(value, path));
  return value;
}

const requestKey = '\n      "request": {\n        ';
const openKey = '\n      "open": {\n        ';
const callKey = '\n      "call": {';
const callKinds: ReadonlySet<TrackKind> = new Set(["agent", "model", "function"]);
const methodKey = '"method": ';
const urlKey = '"url": ';
const nameKey = '"name": ';
const commandKey = '"command": ';

function urlOf(text: string, entry: Entry): string | undefined {
  if (entry.kind === "websocket") return textAfter(text, entry, openKey, urlKey)?.value;
  if (entry.kind !== "http") return undefined;
  const method = textAfter(text, entry, requestKey, methodKey);
  return method && stringAt(text, method.end + 2 + urlKey.length).value;
}

/** The text that is the first value of an object of the track, read without parsing the track. */
function textAfter(
  text: string,
  entry: Entry,
  opening: string,
  key: string,
): { value: string; end: number } | undefined {
  const opened = text.indexOf(opening, entry.start);
  if (opened === -1 || opened >= entry.end) return undefined;
  let at = opened + opening.length;
  while (text[at] === " " || text[at] === "\n") at++;
  return text.startsWith(key, at) ? stringAt(text, at + key.length) : undefined;
}

function stringAt(text: string, start: number): { value: string; end: number } {
  let end = start;
  for (let escaped = true; escaped; ) {
    end = text.indexOf('"', end + 1);
    escaped = false;
    for (let i = end - 1; text[i] === "\\"; i--) escaped = !escaped;
  }
  const raw = text.slice(start + 1, end);
  return { value: raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw, end: end + 1 };
}

/** The lines of the tracks, counted when one is first asked for. */
function lineCounter(text: string, entries: readonly Entry[]): (i: number) => number {
  let lines: number[] | undefined;
  return (i) => {
    if (lines === undefined) {
      lines = [];
      let line = 1;
      let at = -1;
      for (const { start } of entries) {
        for (let next = text.indexOf("\n", at + 1); next !== -1 && next < start; next = text.indexOf("\n", at + 1)) {
          line++;
          at = next;
        }
        lines.push(line);
      }
    }
    return lines[i] ?? 0;
  };
}
