import { pseudonymClass } from "../cassette/redact/pseudonyms.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Json } from "../cassette/schema.ts";
import { decodeUtf8, encodeBase64 } from "../wire/bytes.ts";
import { parseJsonTree } from "../wire/json.ts";
import type { DuplexKind, IdPlace } from "./duplex-kind.ts";
import type { Facets, Matcher } from "./identity.ts";

/** Something that one side said, as it is compared. */
export interface Unit {
  readonly bytes: Uint8Array;
  /** The tree, where it is JSON. */
  readonly json: Json | undefined;
  /** What is compared, under the key `frame`. */
  readonly facets: Facets;
  readonly identity: string;
}

/** The ids that a program has given, and the recorded ones that they stand for: by space, each as JSON text. */
export interface IdLinks {
  readonly toLive: Map<string, Json>;
  readonly toRecorded: Map<string, Json>;
}

export function createIdLinks(): IdLinks {
  return { toLive: new Map(), toRecorded: new Map() };
}

/** Notes which live ids stand for which recorded ones: two messages of the program's that are the same one. */
export function linkIds(
  kind: Pick<DuplexKind, "ids">,
  links: IdLinks,
  recorded: Json | undefined,
  live: Json | undefined,
): void {
  if (kind.ids === undefined || recorded === undefined || live === undefined) return;
  const given = (message: Json): IdPlace[] =>
    (kind.ids?.(message, "client") ?? []).filter(({ role }) => role === "gives");
  const places = given(recorded);
  for (const place of given(live)) {
    const partner = places.find((one) => one.space === place.space && samePath(one.path, place.path));
    const [was, is] = [partner && valueAt(recorded, place.path), valueAt(live, place.path)];
    if (was === undefined || is === undefined) continue;
    links.toLive.set(key(place.space, was), is);
    links.toRecorded.set(key(place.space, is), was);
  }
}

/** A message of the other side's with the ids that it names as the program gave them; the very same where none differ. */
export function withLiveIds(kind: Pick<DuplexKind, "ids">, links: IdLinks, message: Json): Json {
  let changed = message;
  for (const { path, space, role } of kind.ids?.(message, "server") ?? []) {
    if (role !== "names") continue;
    const was = valueAt(message, path);
    const is = was === undefined ? undefined : links.toLive.get(key(space, was));
    if (is !== undefined && key(space, is) !== key(space, was as Json)) changed = withValue(changed, path, is);
  }
  return changed;
}

/**
 * What is compared of something that the program sends or sent. The same for both sides of the comparison: `links` is
 * that of the play for what it sends, and absent for what was recorded, whose secrets are replaced already.
 */
export function readUnit(
  kind: DuplexKind,
  bytes: Uint8Array,
  binary: boolean,
  matcher: Matcher,
  lane: string | undefined,
  live?: { readonly redactor: Redactor; readonly links: IdLinks },
): Unit {
  const clean =
    live === undefined
      ? bytes
      : (live.redactor.request({ method: "", url: "", headers: [], body: bytes }).body ?? bytes);
  const text = decodeUtf8(clean);
  const json = binary || text === undefined || !/^\s*[[{]/.test(text) ? undefined : parseJsonTree(text);
  const frame = json === undefined ? (text ?? { $bytes: encodeBase64(clean) }) : counted(kind, json, live?.links);
  const facets: Facets = binary ? { frame, binary } : { frame };
  return { bytes, json, facets, identity: pseudonymClass(matcher.identity(kind.kind, lane, facets)) };
}

function counted(kind: DuplexKind, message: Json, links: IdLinks | undefined): Json {
  let tree = message;
  for (const { path, space, role } of kind.ids?.(message, "client") ?? []) {
    if (role === "gives") tree = withValue(tree, path, undefined);
    else {
      const is = valueAt(message, path);
      const was = is === undefined ? undefined : links?.toRecorded.get(key(space, is));
      if (was !== undefined) tree = withValue(tree, path, was);
    }
  }
  return kind.counts?.(tree) ?? tree;
}

const key = (space: string, id: Json): string => `${space} ${JSON.stringify(id)}`;

function samePath(a: IdPlace["path"], b: IdPlace["path"]): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i]);
}

function valueAt(message: Json, path: IdPlace["path"]): Json | undefined {
  let value: Json | undefined = message;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as { readonly [name: string]: Json })[step];
  }
  return value;
}

/** A message with another value at a place that it has; copies only what lies on the path. `undefined` takes the key out. */
export function withValue(message: Json, path: IdPlace["path"], value: Json | undefined, depth = 0): Json {
  const step = path[depth];
  if (step === undefined || typeof message !== "object" || message === null || !Object.hasOwn(message, step))
    return message;
  const last = depth === path.length - 1;
  const inner = (message as { readonly [name: string]: Json })[step] as Json;
  if (Array.isArray(message)) {
    const items = [...(message as readonly Json[])];
    items[Number(step)] = last ? (value ?? null) : withValue(inner, path, value, depth + 1);
    return items;
  }
  const entries = Object.entries(message as { readonly [name: string]: Json }).flatMap(
    ([name, item]): [string, Json][] => {
      if (name !== String(step)) return [[name, item]];
      if (!last) return [[name, withValue(item, path, value, depth + 1)]];
      return value === undefined ? [] : [[name, value]];
    },
  );
  return Object.fromEntries(entries);
}
