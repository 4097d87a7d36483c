import { encodeUtf8 } from "../wire/bytes.ts";
import { readCarefully } from "./careful.ts";
import { contentText, encodeContent } from "./content.ts";
import { formatPath, type Path } from "./fault.ts";
import { limitsOf, type ReadOptions } from "./limits.ts";
import type { Body, Cassette, Frame, Gate, StoredRequest, StoredResponse, Style, Track } from "./schema.ts";
import { headDigest, trackState } from "./seal.ts";

/** What is wrong with a file (`error`: it cannot be played), or worth a look (`warning`). */
export interface LintIssue {
  readonly severity: "error" | "warning";
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

type Warn = (path: Path, message: string) => void;

/** Every fault of a text, or, where it has none, what is worth a look. In file order. */
export function lintCassette(text: string, options: ReadOptions = {}): LintIssue[] {
  const reading = readCarefully(text, limitsOf(options));
  const issues: LintIssue[] = reading.issues.map((issue) => ({ severity: "error", ...issue }));
  if (reading.cassette !== undefined)
    warnings(reading.cassette, (path, message) => {
      issues.push({ severity: "warning", ...reading.position(path), path: formatPath(path), message });
    });
  return issues.sort((a, b) => a.line - b.line || a.column - b.column);
}

function warnings(cassette: Cassette, warn: Warn): void {
  const { seal, match, tracks } = cassette;
  if (seal === undefined)
    warn([], "is not sealed: edits cannot be told from recordings; seal it once it is as you mean it");
  else if (seal.head !== headDigest(cassette))
    warn(["seal", "head"], "match, vars or the list of tracks is not as it was sealed");
  const places = new Map(tracks.map((track, i) => [track.id, i]));
  tracks.forEach((track, i) => {
    const path = ["tracks", i];
    const state = trackState(track, seal);
    if (seal !== undefined && state === "edited") warn(path, `track "${track.id}" was edited since it was recorded`);
    if (seal !== undefined && state === "authored")
      warn(path, `track "${track.id}" was not recorded: it has no digest in the seal`);
    cutWarnings(track, path, warn);
    if (track.kind === "http" && state !== "recorded") {
      lengthWarning(track.request, [...path, "request"], warn);
      if (track.response !== undefined) lengthWarning(track.response, [...path, "response"], warn);
    }
    for (const [gate, at] of answerGates(track, path))
      for (const id of typeof gate === "string" ? [gate] : Array.isArray(gate) ? (gate as readonly string[]) : [])
        gateWarning(id, track, at, places, match?.order === "strict" ? tracks : undefined, warn);
  });
}

/** The gates that hold the whole answer of a track. */
function answerGates(track: Track, path: Path): [Gate, Path][] {
  const gates: [Gate | undefined, Path][] = [[track.after, [...path, "after"]]];
  if (track.kind === "http") gates.push([track.response?.after, [...path, "response", "after"]]);
  if ("call" in track) gates.push([track.result?.after, [...path, "result", "after"]]);
  return gates.filter((pair): pair is [Gate, Path] => pair[0] !== undefined);
}

function gateWarning(
  id: string,
  track: Track,
  path: Path,
  places: ReadonlyMap<string, number>,
  strict: readonly Track[] | undefined,
  warn: Warn,
): void {
  if (id === track.id) warn(path, "names its own track, whose request has always been made by then: it holds nothing");
  const other = strict?.[places.get(id) ?? -1];
  if (other !== undefined && other.lane === track.lane && places.get(id)! > places.get(track.id)!)
    warn(
      path,
      `may never open: "${id}" comes later in the same strict lane, and this holds the whole answer until it is requested`,
    );
}

function cutWarnings(track: Track, path: Path, warn: Warn): void {
  for (const [frame, style, at] of framesOf(track, path)) {
    if (frame.cuts === undefined || frame.value !== undefined) continue;
    const size = sizeOf(frame, style);
    frame.cuts.forEach((cut, i) => {
      if (cut[0] > size)
        warn([...at, "cuts", i], `is at byte ${cut[0]}, past the end of the frame (${size} bytes): it is dropped`);
    });
  }
}

function* framesOf(track: Track, path: Path): Generator<[Frame, Style | undefined, Path]> {
  if (track.kind === "http") {
    for (const side of ["request", "response"] as const)
      for (const key of ["body", "decoded"] as const) {
        const body = track[side]?.[key];
        if (body !== undefined) yield* bodyFrames(body, track[side]?.style, [...path, side, key]);
      }
  } else if ("call" in track) yield* bodyFrames(track.events ?? [], track.style, [...path, "events"]);
  else yield* bodyFrames(track.frames ?? [], track.style, [...path, "frames"]);
}

function* bodyFrames(body: Body, style: Style | undefined, path: Path): Generator<[Frame, Style | undefined, Path]> {
  if (!isList(body)) return yield [body, style, path];
  for (let i = 0; i < body.length; i++) yield [body[i]!, style, [...path, i]];
}

function lengthWarning(message: StoredRequest | StoredResponse, path: Path, warn: Warn): void {
  const index = message.headers?.findIndex(([name]) => name.toLowerCase() === "content-length") ?? -1;
  const encoded = message.headers?.some(([name]) => name.toLowerCase() === "content-encoding");
  if (index === -1 || encoded || message.body === undefined) return;
  let size = 0;
  for (const [frame, style] of bodyFrames(message.body, message.style, path)) size += sizeOf(frame, style);
  const stated = message.headers?.[index]?.[1];
  if (stated !== String(size))
    warn([...path, "headers", index], `states ${stated} bytes, the body has ${size}; it is stated anew in play`);
}

function sizeOf(frame: Frame, style: Style | undefined): number {
  if (frame.file !== undefined) return frame.file.size;
  const text = contentText(frame, style);
  return text === undefined ? encodeContent(frame, style).length : encodeUtf8(text).length;
}

function isList(body: Body): body is readonly Frame[] {
  return Array.isArray(body);
}
