import { decodeUtf8 } from "../wire/bytes.ts";
import { readCarefully } from "./careful.ts";
import type { CassetteIndex } from "./cassette-index.ts";
import { cassetteInvalid } from "./invalid.ts";
import { limitsOf, type ReadOptions, tooLarge } from "./limits.ts";
import { formatCassette } from "./print.ts";
import type { Cassette, Track } from "./schema.ts";
import { indexSealedText } from "./sealed-index.ts";
import { markSound, soundCassette } from "./sound.ts";
import { badUtf8 } from "./utf8.ts";

export type { CassetteIndex };

/**
 * Opens a cassette: an index over its text. Of a text that is as we printed it only the head and the seal are parsed
 * now, a track when it is asked for; any other text is read carefully and whole. CassetteInvalid as parseCassette throws
 * it, and for bytes that are not UTF-8.
 */
export function openCassette(source: string | Uint8Array, options: ReadOptions = {}): CassetteIndex {
  const limits = limitsOf(options);
  if (source.length > limits.size)
    throw cassetteInvalid(options.path, [{ line: 1, column: 1, path: "", message: tooLarge(source.length, limits) }]);
  const bytes = typeof source === "string" ? undefined : source;
  const text = typeof source === "string" ? source : decodeUtf8(source);
  if (text === undefined) throw cassetteInvalid(options.path, [badUtf8(bytes!)]);
  const index = indexSealedText(text, bytes, options.path, limits);
  if (index !== undefined) return index;
  const reading = readCarefully(text, limits);
  if (reading.cassette === undefined) throw cassetteInvalid(options.path, reading.issues);
  return indexOver(
    markSound(reading.cassette),
    () => text,
    false,
    (i) => reading.position(["tracks", i]).line,
  );
}

/** The index of a cassette that is a value: checked (CassetteInvalid), copied where it is not ours; `line` gives 0. */
export function indexCassette(cassette: Cassette): CassetteIndex {
  const sound = soundCassette(cassette);
  let text: string | undefined;
  return indexOver(
    sound,
    () => (text ??= formatCassette(sound)),
    true,
    () => 0,
  );
}

function indexOver(
  cassette: Cassette,
  text: () => string,
  canonical: boolean,
  line: (i: number) => number,
): CassetteIndex {
  const { tracks, seal, ...head } = cassette;
  let places: Map<string, number> | undefined;
  let times: number[] | undefined;
  const track = (i: number): Track => {
    const found = tracks[i];
    if (found === undefined) throw new RangeError(`there is no track ${i}; the cassette has ${tracks.length}`);
    return found;
  };
  return {
    size: tracks.length,
    head: Object.freeze(head),
    ...(seal !== undefined && { seal }),
    canonical,
    get text() {
      return text();
    },
    id: (i) => track(i).id,
    kind: (i) => track(i).kind,
    lane: (i) => track(i).lane,
    at: (i) => (times ??= timesOf(tracks))[i] ?? 0,
    method: (i) => {
      const found = track(i);
      return found.kind === "http" ? found.request.method : undefined;
    },
    url: (i) => {
      const found = track(i);
      return found.kind === "http" ? found.request.url : found.kind === "websocket" ? found.open.url : undefined;
    },
    name: (i) => {
      const found = track(i);
      return "call" in found ? found.call.name : found.kind === "process" ? found.open.command : undefined;
    },
    track,
    peek: track,
    line,
    indexOf: (id) => (places ??= new Map(tracks.map((t, i) => [t.id, i]))).get(id) ?? -1,
    cassette: () => cassette,
  };
}

// A track written by hand may leave its time out: it is as late as the one before it.
function timesOf(tracks: readonly Track[]): number[] {
  let time = 0;
  return tracks.map(({ at }) => (time = at ?? time));
}
