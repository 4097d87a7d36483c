import type { EventDraft } from "../../cassette/draft.ts";
import type { Redactor } from "../../cassette/redact/redactor.ts";
import type { Json } from "../../cassette/schema.ts";

interface Delta {
  /** Its place among the events. */
  readonly place: number;
  readonly part: { readonly [key: string]: Json };
  readonly text: string;
}

/**
 * The parts of a stream without secrets that are torn over several deltas of one text, as a model says them: each part
 * alone shows nothing. Where there is one, its replacement stands in the first of its deltas, and the others are empty.
 */
export function withoutTornSecrets(events: readonly EventDraft[], redactor: Redactor): readonly EventDraft[] {
  const texts = new Map<string, Delta[]>();
  events.forEach(({ value }, place) => {
    const part = Object(value) as { readonly [key: string]: Json };
    const { type, id, delta } = part;
    if (typeof type !== "string" || typeof delta !== "string" || delta === "") return;
    const key = JSON.stringify([type, id]);
    const known = texts.get(key);
    if (known === undefined) texts.set(key, [{ place, part, text: delta }]);
    else known.push({ place, part, text: delta });
  });
  let mended: EventDraft[] | undefined;
  for (const deltas of texts.values()) {
    if (deltas.length < 2) continue;
    for (const [{ place, part, text }, delta] of changes(deltas, redactor)) {
      if (delta !== text) (mended ??= [...events])[place] = { ...events[place]!, value: { ...part, delta } };
    }
  }
  return mended ?? events;
}

/** The deltas that a secret lies in, each with its new text. */
function changes(deltas: readonly Delta[], redactor: Redactor): readonly (readonly [Delta, string])[] {
  const text = deltas.map((delta) => delta.text).join("");
  const clean = redactor.json(text);
  if (clean === text) return [];
  let same = 0;
  while (same < text.length && same < clean.length && text[same] === clean[same]) same++;
  let tail = 0;
  const most = Math.min(text.length, clean.length) - same;
  while (tail < most && text[text.length - 1 - tail] === clean[clean.length - 1 - tail]) tail++;
  const touched: Delta[] = [];
  let start = 0;
  let from = 0;
  let to = 0;
  for (const delta of deltas) {
    const end = start + delta.text.length;
    if (end > same && start < Math.max(text.length - tail, same + 1)) {
      if (touched.length === 0) from = start;
      to = end;
      touched.push(delta);
    }
    start = end;
  }
  const whole = clean.slice(from, clean.length - (text.length - to));
  return touched.map((delta, i) => [delta, i === 0 ? whole : ""] as const);
}
