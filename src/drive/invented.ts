import type { Json } from "../cassette/schema.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} /;
const HEX = /^[0-9a-f]{12,}$/i;
const EPOCH_SECONDS = 1e9;

/**
 * Whether two values differ as two do that a server makes up anew each time: ids of one shape, points in time, digests,
 * opaque tokens. A price, a name or a text does not.
 */
export function looksInvented(recorded: Json, live: Json): boolean {
  if (typeof recorded === "number" && typeof live === "number") {
    return Number.isInteger(recorded) === Number.isInteger(live) && recorded >= EPOCH_SECONDS && live >= EPOCH_SECONDS;
  }
  if (typeof recorded !== "string" || typeof live !== "string") return false;
  const shapes = [UUID, DATE_TIME, HTTP_DATE, HEX];
  if (shapes.some((shape) => shape.test(recorded) && shape.test(live))) return true;
  return sameWords(recorded, live);
}

// `run_12` and `run_7`, `req-a8f3k2x9` and `req-77bce01z`, a URL with one of them in its path: the words without digits
// are the same, and those with digits are in the same places.
function sameWords(recorded: string, live: string): boolean {
  const [a, b] = [recorded.split(/([^A-Za-z0-9]+)/), live.split(/([^A-Za-z0-9]+)/)];
  if (a.length !== b.length || a.length < 3) return false;
  return a.every((word, i) => word === b[i] || (isId(word) && isId(b[i] as string)));
}

const isId = (word: string): boolean => /\d/.test(word) && /^[A-Za-z0-9]+$/.test(word);
