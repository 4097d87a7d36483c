import stableStringify from "fast-json-stable-stringify";
import { pseudonymClass } from "../cassette/redact/pseudonyms.ts";
import type { Json, Match, TrackKind } from "../cassette/schema.ts";
import { OptionInvalid } from "../errors.ts";

/** What makes two requests of a kind the same request: plain data, named so that JSON Pointers can reach it. */
export type Facets = { readonly [name: string]: Json };

/** What a deck may be told about matching. Stored in the cassette, but for the function. */
export interface MatchOptions {
  order?: "identity" | "strict";
  /** JSON Pointers into the facets, `*` for any key or index: `/body/requestId`, `/query/ts`, `/arguments/0/id`. */
  ignore?: string[];
  /** What counts although it does not by default: `/headers/<name>`. */
  include?: string[];
  /** Rewrites the facets before they are compared, on both sides; only its name is stored. */
  normalize?: { name: string; fn: (facets: Facets) => Facets };
}

/** Computes identities; the recorder and the player use the same one, as the cassette declares it. */
export interface Matcher {
  readonly order: "identity" | "strict";
  /** What the cassette stores; `undefined` when all is default. */
  readonly stored: Match | undefined;
  readonly include: readonly string[];
  /** Whether facets are compared as they are: nothing is ignored, included or normalised. */
  readonly plain: boolean;
  /** Whether requests may be told apart by method, origin and path before their identity is computed. */
  readonly coarse: boolean;
  /** The facets as they are compared: ignored places gone, normalised. */
  compared(facets: Facets): Facets;
  /** The identity: stable JSON text of kind, lane and facets, pseudonyms as their class. */
  identity(kind: TrackKind, lane: string | undefined, facets: Facets): string;
}

/** Builds the matcher from what the cassette declares and what the caller asks for; they must not differ. */
export function createMatcher(
  asked: MatchOptions | undefined,
  declared: Match | undefined,
  replaying: boolean,
): Matcher {
  const { order = declared?.order ?? "identity" } = asked ?? {};
  const ignore = asked?.ignore ?? declared?.ignore ?? [];
  const include = asked?.include ?? declared?.include ?? [];
  const normalize = asked?.normalize;
  if (replaying) refuseDifference(asked, declared);
  const paths = ignore.map(pointer);
  include.forEach(pointer);
  const plain = paths.length === 0 && normalize === undefined;
  const stored: Match = {
    ...(order === "identity" ? {} : { order }),
    ...(ignore.length === 0 ? {} : { ignore: [...ignore] }),
    ...(include.length === 0 ? {} : { include: [...include] }),
    ...(normalize === undefined ? {} : { normalize: normalize.name }),
  };
  const compared = (facets: Facets): Facets => {
    if (plain) return facets;
    let result: Json = facets;
    for (const path of paths) result = without(result, path, 0);
    return normalize === undefined ? (result as Facets) : normalize.fn(result as Facets);
  };
  return {
    order,
    stored: Object.keys(stored).length === 0 ? undefined : stored,
    include,
    plain: plain && include.length === 0,
    coarse:
      normalize === undefined &&
      !paths.some(([first]) => first === "*" || /^(method|origin|path|name)$/.test(first ?? "")),
    compared,
    // The stable text of { facets, kind, lane }: kinds and names of lanes are plain words, which need no escaping.
    identity: (kind, lane, facets) => {
      const text = `{"facets":${stableStringify(compared(facets))},"kind":"${kind}","lane":${lane === undefined ? "null" : `"${lane}"`}}`;
      return pseudonymClass(text);
    },
  };
}

function refuseDifference(asked: MatchOptions | undefined, declared: Match | undefined): void {
  const faults: string[] = [];
  const compare = (key: string, wanted: unknown, stored: unknown): void => {
    if (wanted === undefined || stableStringify(wanted) === stableStringify(stored)) return;
    faults.push(`match.${key} is ${JSON.stringify(wanted)}, the cassette was recorded with ${JSON.stringify(stored)}`);
  };
  compare("order", asked?.order, declared?.order ?? "identity");
  compare("ignore", asked?.ignore, declared?.ignore ?? []);
  compare("include", asked?.include, declared?.include ?? []);
  compare("normalize", asked?.normalize?.name, declared?.normalize ?? "none");
  if (declared?.normalize !== undefined && asked?.normalize === undefined) {
    faults.push(`the cassette needs the normalizer "${declared.normalize}": pass match.normalize with that name`);
  }
  if (faults.length > 0) {
    throw new OptionInvalid(
      `The match options differ from what the cassette declares: ${faults.join("; ")}. Requests must be compared as they were recorded: drop the option, change "match" in the cassette, or record again.`,
      { faults },
    );
  }
}

/** The segments of a JSON Pointer (RFC 6901), where a segment `*` stands for any key or index. */
function pointer(text: string): string[] {
  if (typeof text !== "string" || !text.startsWith("/")) {
    throw new OptionInvalid(
      `${JSON.stringify(text)} is no JSON Pointer: it begins with "/" and names a place in a request, such as "/body/requestId", "/query/ts" or "/headers/x-tenant".`,
    );
  }
  return text
    .slice(1)
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

// Copies only what lies on the path: the facets may share structure with a frozen track.
function without(value: Json, path: readonly string[], depth: number): Json {
  if (typeof value !== "object" || value === null) return value;
  const segment = path[depth] as string;
  const last = depth === path.length - 1;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    const hit = (i: number): boolean => segment === "*" || segment === String(i);
    if (last) return items.filter((_, i) => !hit(i));
    return items.map((item, i) => (hit(i) ? without(item, path, depth + 1) : item));
  }
  const entries = Object.entries(value as { readonly [key: string]: Json });
  const hit = (key: string): boolean => segment === "*" || segment === key;
  if (!entries.some(([key]) => hit(key))) return value;
  // fromEntries defines own properties, so that a key named __proto__ stays a plain key.
  return Object.fromEntries(
    last
      ? entries.filter(([key]) => !hit(key))
      : entries.map(([key, item]) => [key, hit(key) ? without(item, path, depth + 1) : item]),
  );
}
