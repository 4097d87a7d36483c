import type { Json, Track } from "../cassette/schema.ts";
import type { Answer } from "../engine/target.ts";

/**
 * Values that the other side invents (ids, times) and that later requests have to carry: a recorded one and the live one
 * in its place. Which values those are is known beforehand: they stand in a recorded answer and in a recorded request
 * behind it.
 */
export interface Links {
  /** A recorded value with the live ones in place, in texts as whole words. */
  live<T extends Json>(value: T): T;
  /** Learns from an answer: what stands in the live one where the recorded one has a linked value. */
  learn(recorded: Json, live: Json): void;
  /** A link that is told. */
  set(recorded: string, live: string): void;
  /** The live value of a recorded one, where it is linked. */
  of(recorded: Json): Json | undefined;
  readonly known: ReadonlyMap<string, string>;
}

/** The texts that a link may be: long enough not to be a word that is there by chance. */
const SHORTEST = 3;
const WORD = /[\w.-]+/g;

export function createLinks(cassette: { readonly tracks: readonly Track[] }, answers: readonly Answer[]): Links {
  const candidates = linkedValues(cassette.tracks, answers);
  const known = new Map<string, string>();

  function text(value: string): string {
    const whole = known.get(value);
    if (whole !== undefined) return whole;
    if (known.size === 0) return value;
    // The words of a URL or a sentence; percent-encoded ones are not taken apart.
    return value.replace(WORD, (word) => known.get(word) ?? word);
  }

  function live(value: Json): Json {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const linked = known.get(String(value));
      return linked !== undefined && /^-?\d+(\.\d+)?$/.test(linked) ? Number(linked) : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(live);
    return Object.fromEntries(
      Object.entries(value as { readonly [key: string]: Json }).map(([key, item]) => [text(key), live(item)]),
    );
  }

  function learn(recorded: Json | undefined, found: Json | undefined): void {
    if (recorded === undefined || found === undefined) return;
    if (isLeaf(recorded) && isLeaf(found)) {
      if (typeof recorded === typeof found) learnText(String(recorded), String(found));
      return;
    }
    if (typeof recorded !== "object" || typeof found !== "object" || recorded === null || found === null) return;
    for (const key of Object.keys(recorded)) {
      if (Object.hasOwn(found, key))
        learn((recorded as Record<string, Json>)[key], (found as Record<string, Json>)[key]);
    }
  }

  // A whole value, or the words of one: a cookie with its attributes, a URL with an id in its path.
  function learnText(recorded: string, found: string): void {
    if (candidates.has(recorded)) {
      if (!known.has(recorded)) known.set(recorded, found);
      return;
    }
    const [words, now] = [recorded.match(WORD) ?? [], found.match(WORD) ?? []];
    if (words.length !== now.length) return;
    for (const [i, word] of words.entries()) {
      if (candidates.has(word) && !known.has(word)) known.set(word, now[i] as string);
    }
  }

  return {
    live: live as Links["live"],
    learn,
    set: (recorded, is) => void known.set(recorded, is),
    of(recorded) {
      return isLeaf(recorded) ? known.get(String(recorded)) : undefined;
    },
    known,
  };
}

function isLeaf(value: Json): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Values of recorded answers that stand in a recorded request behind them. */
function linkedValues(tracks: readonly Track[], answers: readonly Answer[]): ReadonlySet<string> {
  const linked = new Set<string>();
  const said = new Set<string>();
  for (const [index, track] of tracks.entries()) {
    for (const word of wordsOf(requestOf(track))) if (said.has(word)) linked.add(word);
    for (const word of wordsOf(answers[index] as unknown as Json)) said.add(word);
  }
  return linked;
}

function requestOf(track: Track): Json {
  if (track.kind === "http") {
    const { url, headers, body } = track.request;
    return [url, ...(headers ?? []).map(([, value]) => value), (body ?? null) as Json];
  }
  if ("call" in track) return [track.call.thread ?? null, track.call.input ?? null];
  return (track.frames ?? []).filter(({ from }) => from === "client" || from === "stdin") as unknown as Json;
}

function* leavesOf(value: Json | undefined): Generator<string> {
  if (value === undefined || value === null) return;
  if (isLeaf(value)) {
    if (worth(String(value))) yield String(value);
  } else if (typeof value === "object") for (const item of Object.values(value)) yield* leavesOf(item as Json);
}

function* wordsOf(value: Json | undefined): Generator<string> {
  for (const leaf of leavesOf(value)) {
    yield leaf;
    for (const [word] of leaf.matchAll(WORD)) if (worth(word)) yield word;
  }
}

// A word that anybody would say ("user", "hello") is no id, and a small number is a count.
const worth = (text: string): boolean => text.length >= SHORTEST && /\d/.test(text) && !/^\d{1,3}$/.test(text);
