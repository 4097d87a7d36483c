import { encodeLatin1 } from "../../wire/bytes.ts";
import type { Chunk } from "../draft.ts";

/** A part of a text that is to be replaced, and by what. Offsets are those of the text before any replacement. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly rule: string;
}

/**
 * Spans in order and without overlap. Of those that begin together the longest wins, one inside another is dropped,
 * and of two that overlap in part the first covers both: no half of a secret is left over.
 */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  // The sort is stable: of equal spans the one that was found first stays.
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
  }
  return merged;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Tells whether a range lies within one of these, which do not overlap. */
export function within(ranges: readonly Range[]): (range: Range) => boolean {
  if (ranges.length === 0) return () => false;
  const sorted = [...ranges].sort((a, b) => a.start - b.start);
  return ({ start, end }) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]!.start <= start) low = middle + 1;
      else high = middle;
    }
    const last = sorted[low - 1];
    return last !== undefined && end <= last.end;
  };
}

/** The text with merged spans replaced; the very same text where there are none. */
export function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const span of spans) {
    parts.push(text.slice(from, span.start), span.replacement);
    from = span.end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/**
 * The chunks of a body after merged spans were replaced in its bytes. Their number and order stay. A boundary outside
 * the spans moves with the text; one inside a span goes as far into the pseudonym as it was into the secret, at most to
 * its end. Without spans the very same chunks are returned.
 */
export function replaceInChunks<T extends Chunk>(
  chunks: readonly T[],
  text: string,
  spans: readonly Span[],
): readonly T[] {
  if (spans.length === 0) return chunks;
  const bytes = encodeLatin1(replaceSpans(text, spans));
  let offset = 0;
  let moved = 0;
  let shift = 0;
  let next = 0;
  return chunks.map((chunk) => {
    const begin = moved;
    offset += chunk.bytes.length;
    for (; next < spans.length && spans[next]!.end <= offset; next++) {
      const { start, end, replacement } = spans[next]!;
      shift += replacement.length - (end - start);
    }
    const span = spans[next];
    const inside = span !== undefined && span.start < offset;
    moved = shift + (inside ? span.start + Math.min(offset - span.start, span.replacement.length) : offset);
    return { ...chunk, bytes: bytes.subarray(begin, moved) };
  });
}
