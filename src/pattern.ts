import { OptionInvalid } from "./errors.ts";

/**
 * Patterns over a trace, the small ones that a cassette may hold: a partial object, strings with `*` as a wildcard.
 * Data only: a cassette is untrusted input, so nothing in it is ever compiled to a regular expression.
 */

/** What a pattern is matched against: a flat event of strings, numbers, booleans. */
export type FlatEvent = Readonly<Record<string, unknown>>;

/** A partial object: every key must be there and agree; a string may hold `*`; a list means any of its members. */
export type EventPattern = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** Whether `text` matches `pattern`, where each `*` stands for any run of characters. Linear in both. */
export function matchesWildcard(pattern: string, text: string): boolean {
  if (!pattern.includes("*")) return pattern === text;
  const pieces = pattern.split("*");
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  const limit = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, from);
    if (found < 0 || found + piece.length > limit) return false;
    from = found + piece.length;
  }
  return true;
}

function matchesValue(expected: EventPattern[string], actual: unknown): boolean {
  if (typeof expected === "string") return typeof actual === "string" && matchesWildcard(expected, actual);
  if (Array.isArray(expected)) return expected.some((one) => matchesValue(one, actual));
  return expected === actual;
}

/** Whether an event has every key of the pattern, with a value that agrees. */
export function matchesEvent(pattern: EventPattern, event: FlatEvent): boolean {
  for (const key of Object.keys(pattern)) {
    if (!Object.hasOwn(event, key) || !matchesValue(pattern[key] as EventPattern[string], event[key])) return false;
  }
  return true;
}

/** How far a list of patterns got in a trace. */
export interface TraceMatch {
  readonly matched: boolean;
  /** For each pattern that matched, the index of its event in the trace. */
  readonly at: readonly number[];
  /** The first pattern that found no event, where there is one. */
  readonly missing?: EventPattern;
}

/** Matches patterns as an ordered subsequence of a trace: other events may lie before, between and after. */
export function matchTrace(trace: readonly FlatEvent[], patterns: readonly EventPattern[]): TraceMatch {
  const at: number[] = [];
  let from = 0;
  for (const pattern of patterns) {
    if (typeof pattern !== "object" || pattern === null) {
      throw new OptionInvalid(
        `A pattern is an object such as { "kind": "request", "method": "POST" }; got ${String(pattern)}.`,
      );
    }
    while (from < trace.length && !matchesEvent(pattern, trace[from] as FlatEvent)) from++;
    if (from === trace.length) return { matched: false, at, missing: pattern };
    at.push(from++);
  }
  return { matched: true, at };
}
