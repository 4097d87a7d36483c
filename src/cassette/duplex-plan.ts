import { concatBytes } from "../wire/bytes.ts";
import { encodeContent, type ReadSidecar } from "./content.ts";
import type { SentChunk } from "./draft.ts";
import { isPipe } from "./frames-read.ts";
import type { Frame, Gate, Style } from "./schema.ts";

/** A part of a frame, in bytes. `to` absent: to its end. */
export interface Piece {
  /** The index of the frame. */
  readonly frame: number;
  readonly from: number;
  readonly to?: number | undefined;
}

/** A chunk of one side of a conversation, before any of its bytes is made. */
export interface PlannedChunk {
  readonly from: SentChunk["from"];
  readonly at: number;
  readonly after: Gate | undefined;
  readonly binary: boolean;
  readonly pieces: readonly [Piece, ...Piece[]];
}

/** A frame's bytes, and where its cuts lie now. */
export interface FrameBytes {
  readonly bytes: Uint8Array;
  /** Where an offset of the recorded frame lies in these bytes; absent: where it was. */
  readonly moved?: ((offset: number) => number) | undefined;
}

/**
 * The chunks of a conversation in the order in which they crossed the boundary: each sender's in its order, the senders'
 * merged by time, then by the order of the file. What `openFrames` gives, without the bytes: those are made when a chunk
 * is handed over, from a frame that may have been changed for this play.
 */
export function planDuplex(
  frames: readonly Frame[],
  style: Style | undefined,
  sidecar: ReadSidecar | undefined,
): readonly PlannedChunk[] {
  const senders = new Map<SentChunk["from"], { frame: Frame; index: number }[]>();
  let at = 0;
  for (const [index, one] of frames.entries()) {
    at = one.at ?? at;
    const frame = one.at === undefined && one.joined !== true ? { ...one, at } : one;
    at = one.cuts?.at(-1)?.[1] ?? at;
    const from = one.from ?? "server";
    const list = senders.get(from);
    if (list === undefined) senders.set(from, [{ frame, index }]);
    else list.push({ frame, index });
  }
  const chunks: { chunk: PlannedChunk; order: number }[] = [];
  for (const [from, list] of senders) {
    for (const chunk of chunksOf(from, list, style, sidecar)) chunks.push({ chunk, order: chunk.pieces[0].frame });
  }
  // Each sender's chunks are in order already, and their times never decrease: a stable sort merges them.
  const latest = new Map<SentChunk["from"], number>();
  const timed = chunks.map(({ chunk, order }) => {
    const time = Math.max(chunk.at, latest.get(chunk.from) ?? 0);
    latest.set(chunk.from, time);
    return { chunk, order, time };
  });
  timed.sort((a, b) => a.time - b.time || a.order - b.order);
  return timed.map(({ chunk }) => chunk);
}

function* chunksOf(
  from: SentChunk["from"],
  list: readonly { frame: Frame; index: number }[],
  style: Style | undefined,
  sidecar: ReadSidecar | undefined,
): Generator<PlannedChunk> {
  let at = 0;
  let after: Gate | undefined;
  let binary = false;
  let pieces: Piece[] = [];
  const closed = (): PlannedChunk => ({ from, at, after, binary, pieces: pieces as [Piece, ...Piece[]] });
  for (const [place, { frame, index }] of list.entries()) {
    if (pieces.length === 0) {
      at = frame.at ?? at;
      after = frame.after;
      binary = frame.binary === true || (frame.base64 !== undefined && !isPipe(from));
    }
    let offset = 0;
    for (const [to, cutAt, gate] of frame.cuts ?? []) {
      if (to < offset || to > encodeContent(frame, style, sidecar).length) continue; // it lies outside an edited frame
      pieces.push({ frame: index, from: offset, to });
      yield closed();
      [pieces, offset, at, after] = [[], to, cutAt, gate];
    }
    pieces.push({ frame: index, from: offset });
    if (list[place + 1]?.frame.joined === true) continue;
    yield closed();
    pieces = [];
  }
}

/** The bytes of a planned chunk, in memory of their own. `frame` gives the bytes of a frame as it is in this play. */
export function plannedBytes(chunk: PlannedChunk, frame: (index: number) => FrameBytes): Uint8Array {
  const parts = chunk.pieces.map((piece) => {
    const { bytes, moved = same } = frame(piece.frame);
    return bytes.slice(moved(piece.from), piece.to === undefined ? undefined : moved(piece.to));
  });
  return parts.length === 1 ? (parts[0] as Uint8Array) : concatBytes(parts);
}

const same = (offset: number): number => offset;

/** Where offsets into bytes lie after a change of them: before the change as they were, behind it moved with the text. */
export function movedBy(before: Uint8Array, after: Uint8Array): (offset: number) => number {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const grown = after.length - before.length;
  return (offset) => {
    if (offset <= head) return offset;
    if (offset >= before.length - tail) return offset + grown;
    return Math.min(offset, after.length - tail);
  };
}
