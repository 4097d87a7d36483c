import { CassetteInvalid } from "../errors.ts";
import { concatBytes } from "../wire/bytes.ts";
import { encodeContent, type ReadSidecar } from "./content.ts";
import type { Chunk, SentChunk } from "./draft.ts";
import type { Cut, Frame, Gate, Style } from "./schema.ts";

export interface ReadOptions {
  /** The time of the delivery before: a first frame without `at` has this one. Default 0. */
  readonly at?: number | undefined;
  readonly sidecar?: ReadSidecar | undefined;
  /** Is told of cuts that lie past the end of their (edited) frame; they are dropped. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A chunk, and the index of the frame in which it began. */
export interface Delivery {
  readonly chunk: Chunk;
  readonly index: number;
}

interface OpenChunk {
  readonly index: number;
  readonly at: number;
  readonly after: Gate | undefined;
  readonly pieces: Uint8Array[];
}

/** The chunks of a list of frames, one frame encoded at a time, as late as can be. Every chunk is memory of its own. */
export function* deliveries(
  frames: readonly Frame[],
  style: Style | undefined,
  options: ReadOptions,
): Generator<Delivery, undefined> {
  let at = options.at ?? 0;
  let open: OpenChunk | undefined;
  for (let index = 0; index < frames.length; index++) {
    const frame = frames[index]!;
    const bytes = encodeContent(frame, style, options.sidecar);
    if (open === undefined) {
      at = frame.at ?? at;
      open = { index, at, after: frame.after, pieces: [] };
    }
    let offset = 0;
    for (const cut of usableCuts(frame.cuts ?? none, bytes.length, index, options)) {
      open.pieces.push(bytes.slice(offset, cut[0]));
      yield close(open);
      [offset, at] = cut;
      open = { index, at, after: cut[2], pieces: [] };
    }
    open.pieces.push(offset === 0 ? bytes : bytes.slice(offset));
    if (frames[index + 1]?.joined === true) continue;
    yield close(open);
    open = undefined;
  }
  return undefined;
}

function close({ index, at, after, pieces }: OpenChunk): Delivery {
  const bytes = pieces.length === 1 ? pieces[0]! : concatBytes(pieces);
  return { index, chunk: after === undefined ? { at, bytes } : { at, bytes, after } };
}

const none: readonly Cut[] = [];

function usableCuts(cuts: readonly Cut[], size: number, index: number, options: ReadOptions): readonly Cut[] {
  if (cuts.length === 0) return none;
  let last = 0;
  return cuts.filter(([offset]) => {
    const usable = offset >= last && offset <= size;
    if (usable) last = offset;
    else
      options.warn?.(
        `Frame ${index + 1}: its cut at byte ${offset} was dropped, because ` +
          (offset > size ? `the frame has only ${size} bytes. ` : `the cut before it is at byte ${last}. `) +
          "Move the cut or take it out.",
      );
    return usable;
  });
}

interface Sender {
  readonly from: SentChunk["from"];
  readonly frames: Frame[];
  /** The index of each of `frames` in the whole list. */
  readonly indexes: number[];
}

/** Whether a sender is a process's pipe, whose chunks are pieces of a stream and not messages. */
export function isPipe(from: SentChunk["from"]): boolean {
  return from !== "client" && from !== "server";
}

/**
 * The chunks of a conversation: each sender's in its order, the senders' merged by time, then by the order of the file.
 * Of a client's or server's messages `base64` or `binary` makes a binary one.
 */
export function* sentChunks(
  frames: readonly Frame[],
  style: Style | undefined,
  options: ReadOptions,
): Generator<SentChunk, undefined> {
  const waiting = sendersOf(frames, options.at ?? 0).map((sender) => {
    const source = deliveries(sender.frames, style, options);
    return { ...sender, source, head: source.next().value };
  });
  for (;;) {
    let first: (typeof waiting)[number] | undefined;
    for (const sender of waiting) if (sender.head !== undefined && precedes(sender, first)) first = sender;
    if (first?.head === undefined) return undefined;
    const { chunk, index } = first.head;
    const frame = first.frames[index]!;
    const binary = frame.binary === true || (frame.base64 !== undefined && !isPipe(first.from));
    first.head = undefined;
    yield { from: first.from, ...chunk, ...(binary && { binary }) };
    first.head = first.source.next().value;
  }
}

interface Waiting extends Sender {
  readonly head: Delivery | undefined;
}

function precedes(a: Waiting, b: Waiting | undefined): boolean {
  if (a.head === undefined || b?.head === undefined) return a.head !== undefined;
  const later = a.head.chunk.at - b.head.chunk.at;
  return later !== 0 ? later < 0 : a.indexes[a.head.index]! < b.indexes[b.head.index]!;
}

function sendersOf(frames: readonly Frame[], start: number): Sender[] {
  const senders = new Map<SentChunk["from"], Sender>();
  let at = start;
  for (const [index, frame] of frames.entries()) {
    const { from } = frame;
    if (from === undefined)
      throw new CassetteInvalid(
        `Frame ${index + 1} does not say who sent it. Give it \`from\`: client or server, or for a process stdin, stdout or stderr.`,
        { frame: index },
      );
    let sender = senders.get(from);
    if (sender === undefined) senders.set(from, (sender = { from, frames: [], indexes: [] }));
    at = frame.at ?? at;
    // `at` that is left out is that of the delivery before, whoever sent it.
    sender.frames.push(frame.at === undefined && frame.joined !== true ? { ...frame, at } : frame);
    sender.indexes.push(index);
    at = frame.cuts?.at(-1)?.[1] ?? at;
  }
  return [...senders.values()];
}
