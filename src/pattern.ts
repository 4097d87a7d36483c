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

/**
 * The full language, for code and scripts, whose author is trusted: a partial object at any depth; a string is a regular
 * expression, unanchored; numbers, booleans and null are equal; a list matches as an ordered subsequence, an empty one
 * anything. In a list an element may also be `{ $any: true }` (one element, whatever it is), `{ $skip: N }` (N of them),
 * `{ $while: P }` (as many in a row as match P, none too) or `{ $until: P }` (all up to the first that matches P, and that
 * one). Keys that begin with `$` are reserved.
 */
export type TracePattern = { readonly [key: string]: PatternValue };
export type PatternValue = string | number | boolean | null | readonly PatternValue[] | TracePattern;

/** A pattern that was read: its expressions are compiled. */
export interface CompiledPattern {
  readonly source: PatternValue;
  matches(value: unknown): boolean;
}

/** A list of patterns that was read. */
export interface CompiledSequence {
  /** How far the patterns get in a list of values. */
  match(values: readonly unknown[]): SequenceMatch;
}

export interface SequenceMatch {
  readonly matched: boolean;
  /** For each pattern that matched, the index of the last value that it took; -1 where it took none. */
  readonly at: readonly number[];
}

/** Reads a pattern. `OptionInvalid` names the pattern, the place in it and what is wrong: all faults at once. */
export function compilePattern(source: PatternValue, name = "the pattern"): CompiledPattern {
  return read(name, source, (faults) => compileValue(source, "", faults));
}

/** Reads a list of patterns: an ordered subsequence, with the `$` elements. */
export function compileSequence(sources: readonly PatternValue[], name = "the patterns"): CompiledSequence {
  return read(name, sources, (faults) => compileList(sources, "", faults));
}

/**
 * Reads a pattern as a gate, which is open once something matched it: of `$while` and `$until` what is inside, for `$any`
 * anything at all. `OptionInvalid` as `compilePattern`.
 */
export function compileGate(source: TracePattern, name = "the gate"): CompiledPattern {
  return read(name, source, (faults) => {
    const [key] = controlKeys(source);
    if (key === "$while" || key === "$until") return compileValue(source[key] as PatternValue, `/${key}`, faults);
    if (key === "$any") return { source, matches: () => true };
    if (key === "$skip") faults.push('"$skip" counts elements of a list, and a gate is no list');
    return compileValue(source, "", faults);
  });
}

function read<T>(name: string, source: unknown, compile: (faults: string[]) => T): T {
  const faults: string[] = [];
  const compiled = compile(faults);
  if (faults.length > 0)
    throw new OptionInvalid(`${name} ${JSON.stringify(source)} is wrong: ${faults.join("; ")}.`, { faults });
  return compiled;
}

const CONTROLS = ["$any", "$skip", "$while", "$until"];
const nothing: CompiledPattern = { source: null, matches: () => false };

function controlKeys(source: PatternValue | undefined): string[] {
  if (typeof source !== "object" || source === null || Array.isArray(source)) return [];
  return Object.keys(source).filter((key) => key.startsWith("$"));
}

function compileValue(source: PatternValue, path: string, faults: string[]): CompiledPattern {
  const wrong = (message: string): CompiledPattern => {
    faults.push(`${path === "" ? "" : `at ${path}: `}${message}`);
    return nothing;
  };
  if (typeof source === "string") {
    try {
      const expression = new RegExp(source, "u");
      return { source, matches: (value) => typeof value === "string" && expression.test(value) };
    } catch (error) {
      return wrong(
        `${JSON.stringify(source)} is no regular expression (${(error as Error).message.replace(/^.*: /, "")})`,
      );
    }
  }
  if (source === null || typeof source === "boolean" || typeof source === "number") {
    return { source, matches: (value) => value === source };
  }
  if (typeof source !== "object") return wrong(`${String(source)} is no pattern`);
  if (Array.isArray(source)) {
    const list = compileList(source as readonly PatternValue[], path, faults);
    return { source, matches: (value) => Array.isArray(value) && list.match(value).matched };
  }
  const [control] = controlKeys(source);
  if (control !== undefined) {
    return wrong(
      CONTROLS.includes(control)
        ? `"${control}" is an element of a list, and stands alone in its object`
        : `there is no "${control}"; keys that begin with "$" are ${CONTROLS.join(", ")}`,
    );
  }
  const keys = Object.entries(source as TracePattern).map(
    ([key, value]) => [key, compileValue(value, `${path}/${key}`, faults)] as const,
  );
  return {
    source,
    matches: (value) =>
      typeof value === "object" &&
      value !== null &&
      keys.every(
        ([key, pattern]) => Object.hasOwn(value, key) && pattern.matches((value as Record<string, unknown>)[key]),
      ),
  };
}

/** Takes values from `from` on; the index after the last that it took, or -1 where it does not match. */
type Taker = (values: readonly unknown[], from: number) => number;

// Taking the earliest that matches is never wrong: what comes after finds at least as much.
function compileList(sources: readonly PatternValue[], path: string, faults: string[]): CompiledSequence {
  const takers = sources.map((source, i) => compileElement(source, `${path}/${i}`, faults));
  return {
    match(values) {
      const at: number[] = [];
      let from = 0;
      for (const take of takers) {
        const next = take(values, from);
        if (next < 0) return { matched: false, at };
        at.push(next === from ? -1 : next - 1);
        from = next;
      }
      return { matched: true, at };
    },
  };
}

function compileElement(source: PatternValue, path: string, faults: string[]): Taker {
  const [control, ...more] = controlKeys(source);
  if (control === undefined || !CONTROLS.includes(control)) return first(compileValue(source, path, faults));
  const value = (source as TracePattern)[control] as PatternValue;
  if (more.length > 0 || Object.keys(source as TracePattern).length > 1) {
    faults.push(`at ${path}: "${control}" stands alone in its object`);
  }
  if (control === "$any") {
    if (value !== true) faults.push(`at ${path}: "$any" is ${JSON.stringify(value)}; it is true`);
    return skip(1);
  }
  if (control === "$skip") {
    if (Number.isInteger(value) && (value as number) >= 0) return skip(value as number);
    faults.push(`at ${path}: "$skip" is ${JSON.stringify(value)}; it is a whole number from 0`);
    return skip(0);
  }
  const pattern = compileValue(value, `${path}/${control}`, faults);
  if (control === "$until") return first(pattern);
  return (values, from) => {
    let next = from;
    while (next < values.length && pattern.matches(values[next])) next++;
    return next;
  };
}

function first(pattern: CompiledPattern): Taker {
  return (values, from) => {
    for (let i = from; i < values.length; i++) if (pattern.matches(values[i])) return i + 1;
    return -1;
  };
}

function skip(count: number): Taker {
  return (values, from) => (from + count <= values.length ? from + count : -1);
}

/** How far a list of patterns got in a trace. */
export interface TraceMatch {
  readonly matched: boolean;
  /** For each pattern that matched, the index of the last event that it took; -1 where it took none. */
  readonly at: readonly number[];
  /** The first pattern that found no event, where there is one. */
  readonly missing?: TracePattern;
}

/**
 * Matches patterns as an ordered subsequence of a trace: other events may lie before, between and after. The patterns are
 * those of the full language. `OptionInvalid` where one of them is none.
 */
export function matchTrace(trace: readonly FlatEvent[], patterns: readonly TracePattern[]): TraceMatch {
  for (const pattern of patterns) {
    if (typeof pattern !== "object" || pattern === null || Array.isArray(pattern)) {
      throw new OptionInvalid(
        `A pattern is an object such as { "kind": "request", "method": "POST" }; got ${String(pattern)}.`,
      );
    }
  }
  const { matched, at } = compileSequence(patterns).match(trace);
  return matched ? { matched, at } : { matched, at, missing: patterns[at.length] as TracePattern };
}
