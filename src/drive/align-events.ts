import type { Json } from "../cassette/schema.ts";

/** What an event is, in a word: its name, or its `type`; else its keys. */
export function eventKind(event: Json): string {
  if (typeof event !== "object" || event === null) return Array.isArray(event) ? "list" : typeof event;
  const {
    event: name,
    json,
    data,
    type,
    kind,
    method,
    object,
    stdout,
    stderr,
  } = event as { readonly [key: string]: Json };
  for (const one of [name, type, kind, method]) if (typeof one === "string" && one !== "message") return one;
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return eventKind(json);
  for (const [from, line] of [
    ["stdout", stdout],
    ["stderr", stderr],
  ] as const) {
    if (line !== undefined) return typeof line === "object" ? `${from} ${eventKind(line)}` : from;
  }
  if (typeof data === "string") return data.length <= 20 ? data : "text";
  if (typeof object === "string") return object;
  return Object.keys(event).sort().join(",");
}

type Pair = readonly [recorded: number | undefined, live: number | undefined];

// Cells of the table of an alignment.
const LARGEST = 4_000_000;

/**
 * Which recorded event is which live one: the alignment in which the most events agree, first in what they say (but for
 * digits, which ids and counters are made of), then in their kind.
 */
export function alignEvents(recorded: readonly Json[], live: readonly Json[]): Pair[] {
  const [a, b] = [recorded.map(fingerprint), live.map(fingerprint)];
  let head = 0;
  while (head < a.length && head < b.length && alike(a[head], b[head]) === SAME) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && alike(a[a.length - 1 - tail], b[b.length - 1 - tail]) === SAME)
    tail++;
  const pairs: Pair[] = [];
  for (let i = 0; i < head; i++) pairs.push([i, i]);
  pairs.push(...aligned(a.slice(head, a.length - tail), b.slice(head, b.length - tail), head));
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

interface Fingerprint {
  readonly kind: string;
  readonly text: string;
}

const SAME = 4;
const SAME_KIND = 1;

function fingerprint(event: Json): Fingerprint {
  return { kind: eventKind(event), text: JSON.stringify(event).replace(/\d+/g, "0") };
}

function alike(a: Fingerprint | undefined, b: Fingerprint | undefined): number {
  return a?.kind !== b?.kind ? 0 : a?.text === b?.text ? SAME : SAME_KIND;
}

function aligned(a: readonly Fingerprint[], b: readonly Fingerprint[], offset: number): Pair[] {
  const [rows, columns] = [a.length + 1, b.length + 1];
  if (rows * columns > LARGEST) return inTurn(a, b, offset);
  const best = new Uint32Array(rows * columns);
  const at = (i: number, j: number): number => best[i * columns + j] as number;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const gain = alike(a[i], b[j]);
      const paired = gain === 0 ? 0 : at(i + 1, j + 1) + gain;
      best[i * columns + j] = Math.max(paired, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const gain = alike(a[i], b[j]);
    if (gain > 0 && at(i, j) === at(i + 1, j + 1) + gain) pairs.push([offset + i++, offset + j++]);
    else if (at(i, j) === at(i + 1, j)) pairs.push([offset + i++, undefined]);
    else pairs.push([undefined, offset + j++]);
  }
  while (i < a.length) pairs.push([offset + i++, undefined]);
  while (j < b.length) pairs.push([undefined, offset + j++]);
  return pairs;
}

// Too many for a table: one by one, as long as the kinds agree.
function inTurn(a: readonly Fingerprint[], b: readonly Fingerprint[], offset: number): Pair[] {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared]?.kind === b[shared]?.kind) shared++;
  return [
    ...Array.from({ length: shared }, (_, i): Pair => [offset + i, offset + i]),
    ...a.slice(shared).map((_, i): Pair => [offset + shared + i, undefined]),
    ...b.slice(shared).map((_, j): Pair => [undefined, offset + shared + j]),
  ];
}
