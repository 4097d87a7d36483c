import { closest } from "fastest-levenshtein";
import { answerFrames, applyFault, canHappen } from "../cassette/fault-apply.ts";
import { describeFault, describeTrack, FAULT_TYPES, type Fault, type FaultType } from "../cassette/fault-kinds.ts";
import type { Cassette, Track } from "../cassette/schema.ts";
import { OptionInvalid } from "../errors.ts";

/** What a sweep makes. Unknown options are refused. */
export interface SweepOptions {
  /** The types of faults. Default: all. */
  faults?: readonly FaultType[];
  /** The ids of the tracks to which they happen. Default: all. */
  tracks?: readonly string[];
  /** At most so many frames of a track for the types that name a frame: the first, the last, and others by the seed. Default 6. */
  frames?: number;
  /** The sizes of torn chunks, in bytes. Default 1, 2, 3, 7 and 64. */
  sizes?: readonly number[];
  /** How late a delayed frame is, in milliseconds. Default 60,000. */
  delayMs?: number;
  /** The statuses that come once. Default 429 and 500. */
  statuses?: readonly number[];
  /** At most so many cassettes; of more, the seed chooses. Default 500. */
  limit?: number;
  /** The same seed chooses the same. Default 1. */
  seed?: number;
}

/** A derived cassette, named for what it does: "t1 POST /v1/chat: cut after frame 3". */
export interface SweepVariant {
  readonly name: string;
  readonly fault: Fault;
  readonly cassette: Cassette;
}

const KEYS = ["faults", "tracks", "frames", "sizes", "delayMs", "statuses", "limit", "seed"] as const;

/**
 * The edge cases that nobody records: one derived cassette for each fault that can happen to each track, in the order of
 * the file. The recording itself is not touched; a derived track counts as edited. A cassette is made when it is asked for.
 * Usable as `test.each(sweep(cassette))("$name", …)`.
 */
export function sweep(cassette: Cassette, options: SweepOptions = {}): readonly SweepVariant[] {
  checkOptions(cassette, options);
  const { limit = 500, seed = 1 } = options;
  const random = randomFrom(seed);
  const all = cassette.tracks.flatMap((track, place) =>
    options.tracks === undefined || options.tracks.includes(track.id)
      ? faultsOf(track, options, random).map((fault) => ({ track, place, fault }))
      : [],
  );
  const chosen = all.length <= limit ? all : chooseSome(all, limit, random);
  return chosen.map(({ track, place, fault }) => {
    let made: Cassette | undefined;
    return {
      name: `${describeTrack(track)}: ${describeFault(fault)}`,
      fault,
      get cassette() {
        return (made ??= withTracks(cassette, place, applyFault(track, fault)));
      },
    };
  });
}

function faultsOf(track: Track, options: SweepOptions, random: () => number): Fault[] {
  const { sizes = [1, 2, 3, 7, 64], statuses = [429, 500], delayMs = 60_000, frames: most = 6 } = options;
  const count = answerFrames(track).length;
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  const some = numbers.length <= most ? numbers : chooseEnds(numbers, most, random);
  const { id } = track;
  const make: Record<FaultType, () => Fault[]> = {
    cut: () => [0, ...some].map((frame) => ({ type: "cut", track: id, frame })),
    reset: () => some.map((frame) => ({ type: "reset", track: id, frame })),
    tear: () => sizes.map((size) => ({ type: "tear", track: id, size })),
    coalesce: () => [{ type: "coalesce", track: id }],
    duplicate: () => some.map((frame) => ({ type: "duplicate", track: id, frame })),
    delay: () => [0, ...some].map((frame) => ({ type: "delay", track: id, frame, ms: delayMs })),
    status: () => statuses.map((status) => ({ type: "status", track: id, status })),
    empty: () => [{ type: "empty", track: id }],
    malformed: () => some.map((frame) => ({ type: "malformed", track: id, frame })),
  };
  return FAULT_TYPES.filter((type) => options.faults === undefined || options.faults.includes(type))
    .flatMap((type) => make[type]())
    .filter((fault) => canHappen(track, fault));
}

// The checksum is over a text that is no more; the digests tell which tracks are as they were recorded.
function withTracks(cassette: Cassette, place: number, tracks: readonly Track[]): Cassette {
  const { seal, ...rest } = cassette;
  const all = [...cassette.tracks.slice(0, place), ...tracks, ...cassette.tracks.slice(place + 1)];
  if (seal === undefined) return Object.freeze({ ...rest, tracks: all });
  const { crc32: _, ...digests } = seal;
  return Object.freeze({ ...rest, tracks: all, seal: digests });
}

/** The first, the last, and others between. */
function chooseEnds<T>(items: readonly T[], most: number, random: () => number): T[] {
  const ends = new Set([0, items.length - 1].slice(0, most));
  while (ends.size < most) ends.add(Math.floor(random() * items.length));
  return [...ends].sort((a, b) => a - b).map((i) => items[i] as T);
}

function chooseSome<T>(items: readonly T[], most: number, random: () => number): T[] {
  const places = new Set<number>();
  while (places.size < most) places.add(Math.floor(random() * items.length));
  return [...places].sort((a, b) => a - b).map((i) => items[i] as T);
}

/** A small generator of numbers from 0 to 1 (mulberry32): the same for the same seed, everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function checkOptions(cassette: Cassette, options: SweepOptions): void {
  const faults: string[] = [];
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key as (typeof KEYS)[number]))
      faults.push(`there is no option ${key}; the nearest is ${closest(key, KEYS)}`);
  }
  for (const type of options.faults ?? []) {
    if (!FAULT_TYPES.includes(type))
      faults.push(`there is no fault "${type}"; the nearest is "${closest(type, FAULT_TYPES)}"`);
  }
  const ids = cassette.tracks.map(({ id }) => id);
  for (const id of options.tracks ?? []) {
    if (!ids.includes(id))
      faults.push(`there is no track "${id}"${ids.length === 0 ? "" : `; the nearest is "${closest(id, ids)}"`}`);
  }
  const counts = { frames: options.frames, limit: options.limit, delayMs: options.delayMs };
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0))
      faults.push(`${name} is ${value}; it is a whole number above 0`);
  }
  for (const size of options.sizes ?? []) {
    if (!(Number.isInteger(size) && size > 0)) faults.push(`a size is ${size}; it is a whole number of bytes above 0`);
  }
  for (const status of options.statuses ?? []) {
    if (!(Number.isInteger(status) && status >= 200 && status <= 599))
      faults.push(`a status is ${status}; it is from 200 to 599`);
  }
  if (options.seed !== undefined && !Number.isInteger(options.seed))
    faults.push(`seed is ${options.seed}; it is a whole number`);
  if (faults.length > 0)
    throw new OptionInvalid(`The options of the sweep are wrong: ${faults.join("; ")}.`, { faults });
}
