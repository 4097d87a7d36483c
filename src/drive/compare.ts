import type { Json } from "../cassette/schema.ts";
import type { Answer } from "../engine/target.ts";
import { alignEvents, eventKind } from "./align-events.ts";
import { looksInvented } from "./invented.ts";
import type { Links } from "./links.ts";

/** How grave a difference is, gravest first. */
export type Tier = "failed" | "status" | "events" | "removed" | "type" | "added" | "header" | "value";

/** All tiers, gravest first. */
export const TIERS: readonly Tier[] = ["failed", "status", "events", "removed", "type", "added", "header", "value"];

/** One place in which an answer differs from the recorded one. */
export interface DriftDifference {
  readonly track: string;
  readonly tier: Tier;
  /** A JSON Pointer into the answer: `/status`, `/headers/content-type`, `/body/user/name`, `/events/3/type`. */
  readonly path: string;
  readonly recorded?: Json | undefined;
  readonly live?: Json | undefined;
  /** What happened, in a sentence. */
  readonly message: string;
}

/** Headers that say something about the moment or the connection, and nothing about the answer. */
const VOLATILE = new Set(
  "date connection keep-alive content-length transfer-encoding etag last-modified age expires server via set-cookie server-timing x-request-id request-id cf-ray cf-cache-status x-served-by x-timer report-to nel alt-svc x-runtime".split(
    " ",
  ),
);

export interface Comparison {
  readonly track: string;
  readonly links: Links;
  /** The recorded program left while the answer went on: what comes after what it heard was never recorded. */
  readonly left: boolean;
  /** Whether a place is tolerated. */
  tolerated(path: string): boolean;
}

/** Where a live answer differs from the recorded one. */
export function compareAnswers(recorded: Answer, live: Answer, comparison: Comparison): DriftDifference[] {
  const found: DriftDifference[] = [];
  const { track, tolerated } = comparison;
  const add = (tier: Tier, path: string, message: string, was?: Json, is?: Json): void => {
    if (!tolerated(path))
      found.push({
        track,
        tier,
        path,
        message,
        ...(was !== undefined && { recorded: was }),
        ...(is !== undefined && { live: is }),
      });
  };
  if (live.error !== undefined && recorded.error === undefined) {
    add(
      "failed",
      "/error",
      `it failed: ${live.error.name}: ${live.error.message}`,
      undefined,
      live.error as unknown as Json,
    );
    return found;
  }
  if (recorded.status !== live.status) {
    add(
      "status",
      "/status",
      `status ${recorded.status} was recorded, now ${live.status}`,
      recorded.status,
      live.status,
    );
  }
  compareHeaders(recorded.headers ?? {}, live.headers ?? {}, add);
  for (const key of ["body", "result", "error", "close"] as const) {
    compareValues(recorded[key] as Json | undefined, live[key] as Json | undefined, `/${key}`, comparison, add);
  }
  compareEvents(recorded.events, live.events, comparison, add);
  return found;
}

const isRedacted = (text: string): boolean => /REDACTED-[a-z]/.test(text);

type Add = (tier: Tier, path: string, message: string, was?: Json, is?: Json) => void;

function compareHeaders(
  recorded: NonNullable<Answer["headers"]>,
  live: NonNullable<Answer["headers"]>,
  add: Add,
): void {
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(live)])) {
    if (VOLATILE.has(name)) continue;
    const [was, is] = [recorded[name]?.join(", "), live[name]?.join(", ")];
    const path = `/headers/${name}`;
    if (was === undefined) add("header", path, `header ${name} is new`, undefined, is);
    else if (is === undefined) add("header", path, `header ${name} is gone`, was);
    else if (was !== is && !isRedacted(was) && !looksInvented(was, is))
      add("header", path, `header ${name} was ${JSON.stringify(was)}, now ${JSON.stringify(is)}`, was, is);
  }
}

function compareEvents(
  recorded: readonly Json[] | undefined,
  live: readonly Json[] | undefined,
  comparison: Comparison,
  add: Add,
): void {
  if (recorded === undefined && live === undefined) return;
  if (recorded === undefined || live === undefined) {
    add("events", "/events", recorded === undefined ? "it is a stream now" : "it is no stream any more");
    return;
  }
  const pairs = alignEvents(recorded, live);
  const heard = comparison.left ? pairs.findLastIndex(([was]) => was !== undefined) + 1 : pairs.length;
  for (const [was, is] of pairs.slice(0, heard)) {
    if (was !== undefined && is !== undefined) {
      compareValues(recorded[was], live[is], `/events/${was}`, comparison, add);
    } else if (was !== undefined) {
      add(
        "events",
        `/events/${was}`,
        `event ${was + 1} (${eventKind(recorded[was] as Json)}) does not come any more`,
        recorded[was],
      );
    } else if (is !== undefined) {
      add("events", `/events/${is}`, `event ${is + 1} (${eventKind(live[is] as Json)}) is new`, undefined, live[is]);
    }
  }
}

function compareValues(
  recorded: Json | undefined,
  live: Json | undefined,
  path: string,
  comparison: Comparison,
  add: Add,
): void {
  if ((recorded === undefined && live === undefined) || comparison.tolerated(path)) return;
  if (recorded === undefined) add("added", path, `${path} is new`, undefined, live);
  else if (live === undefined) add("removed", path, `${path} is gone`, recorded);
  else compareBoth(recorded, live, path, comparison, add);
}

function compareBoth(recorded: Json, live: Json, path: string, comparison: Comparison, add: Add): void {
  const [was, is] = [typeOf(recorded), typeOf(live)];
  if (was !== is) add("type", path, `${path} was ${article(was)}, now ${article(is)}`, recorded, live);
  else if (was === "list") {
    const [a, b] = [recorded as readonly Json[], live as readonly Json[]];
    for (let i = 0; i < Math.max(a.length, b.length); i++) compareValues(a[i], b[i], `${path}/${i}`, comparison, add);
  } else if (was === "object") {
    compareObjects(recorded as JsonObject, live as JsonObject, path, comparison, add);
  } else if (!sameValue(recorded, live, comparison.links)) {
    add("value", path, `${path} was ${brief(recorded)}, now ${brief(live)}`, recorded, live);
  }
}

type JsonObject = { readonly [key: string]: Json };

function compareObjects(a: JsonObject, b: JsonObject, path: string, comparison: Comparison, add: Add): void {
  const seen = new Set<string>();
  for (const key of Object.keys(a)) {
    // A key may be an id as well.
    const now = Object.hasOwn(b, key) ? key : comparison.links.live(key);
    seen.add(now);
    compareValues(a[key], Object.hasOwn(b, now) ? b[now] : undefined, `${path}/${escaped(key)}`, comparison, add);
  }
  for (const key of Object.keys(b)) {
    if (!seen.has(key)) compareValues(undefined, b[key], `${path}/${escaped(key)}`, comparison, add);
  }
}

function sameValue(recorded: Json, live: Json, links: Links): boolean {
  if (typeof recorded === "string" && isRedacted(recorded)) return true; // what stood there is not known
  return recorded === live || links.live(recorded) === live || looksInvented(recorded, live);
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
const article = (type: string): string =>
  type === "null" ? "null" : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;

function typeOf(value: Json): string {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

function brief(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 60)}… (${text.length} characters)`;
}
