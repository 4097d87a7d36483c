import { decodeLatin1, decodeUtf8, encodeLatin1, encodeUtf8 } from "../../wire/bytes.ts";
import type { Found, Setting } from "./found.ts";
import { createLiterals, type Literals } from "./literals.ts";
import { nameEndings } from "./names.ts";
import { findPlace } from "./places.ts";
import type { PatternRule } from "./rules.ts";
import { type Shape, shapes } from "./shapes.ts";
import { within } from "./spans.ts";
import { holdsPseudonym, isSecretValue, looksRandom } from "./values.ts";
import { decodePercent, unescapeJson, type View } from "./views.ts";

/** Where a closer look is worth it: the end of a name that may name a credential, the beginning of a token, a host. */
type Anchor = "name" | "authority" | Shape;

/** Finds the secrets of byte texts by place, by shape and by the caller's patterns. */
export interface Finder {
  /** `views`: the text and what it says decoded (`viewsOf`). */
  find(views: readonly View[], kind: Setting["kind"]): readonly Found[];
}

export interface FinderOptions {
  readonly keys: ReadonlyMap<string, string>;
  readonly queries: ReadonlyMap<string, string>;
  readonly patterns: readonly PatternRule[];
  readonly waived: ReadonlySet<string>;
}

const authority = /[^\s/?#"'<>\\`]{1,1024}/y;

/** The password of `://user:password@host`; where there is none, or a word that stands for none, the user that is a token. */
function findUserInfo(text: string, end: number): Found | undefined {
  if (text.length < 1024 && !text.includes("@", end)) return undefined;
  authority.lastIndex = end;
  const match = authority.exec(text)?.[0];
  const at = match?.lastIndexOf("@") ?? -1;
  if (match === undefined || at < 0) return undefined;
  const colon = match.slice(0, at).indexOf(":");
  const user = colon < 0 ? match.slice(0, at) : match.slice(0, colon);
  const password = colon < 0 ? "" : match.slice(colon + 1, at);
  const token = password === "" || password === "x-oauth-basic";
  const [start, raw] = token ? [end, user] : [end + colon + 1, password];
  const secret = decodePercent(raw);
  if (!isSecretValue(secret) || (token && !(looksRandom(secret) && secret.length >= 16))) return undefined;
  return { rule: "url-password", start, end: start + raw.length, secret, raw };
}

function findInView(text: string, anchors: Literals<Anchor>, setting: Setting, waived: ReadonlySet<string>): Found[] {
  const found: Found[] = [];
  let done = 0;
  const take = (hit: Found): void => {
    if (waived.has(hit.rule)) return;
    found.push(hit);
    done = Math.max(done, hit.end);
  };
  anchors.each(text, (anchor, start, end) => {
    if (start < done) return;
    if (anchor === "name") for (const hit of findPlace(text, end, setting)) take(hit);
    else if (anchor === "authority") {
      const hit = findUserInfo(text, end);
      if (hit !== undefined) take(hit);
    } else {
      const place = anchor.find(text, start);
      if (place === undefined) return;
      const [from, to] = place;
      const secret = unescapeJson(text.slice(from, to));
      // A pseudonym beside other words can look like a token that was not there before it.
      if (isSecretValue(secret) && !holdsPseudonym(secret)) take({ rule: anchor.rule, start: from, end: to, secret });
    }
  });
  return found;
}

const notAscii = /[^\x00-\x7f]/;

/** The caller's expressions see characters, not bytes: offsets are counted back. */
function findPatterns(text: string, patterns: readonly PatternRule[]): Found[] {
  if (patterns.length === 0) return [];
  const characters = notAscii.test(text) ? (decodeUtf8(encodeLatin1(text)) ?? text) : text;
  const bytesOf = (part: string): string => (characters === text ? part : decodeLatin1(encodeUtf8(part)));
  const found: Found[] = [];
  for (const { rule, pattern } of patterns) {
    for (const match of characters.matchAll(pattern)) {
      const [from, to] = match.indices?.[1] ?? match.indices?.[0] ?? [0, 0];
      const secret = bytesOf(characters.slice(from, to));
      const start = bytesOf(characters.slice(0, from)).length;
      if (isSecretValue(secret) && !holdsPseudonym(secret))
        found.push({ rule, start, end: start + secret.length, secret });
    }
  }
  return found;
}

/** What was found in a view, with the offsets of the original text. */
function inOriginal({ start, end, quote, ...rest }: Found, view: View): Found {
  const moved = { ...rest, start: view.origin(start), end: view.origin(end) };
  return quote === undefined ? moved : { ...moved, quote: view.encode(quote) };
}

export function createFinder({ keys, queries, patterns, waived }: FinderOptions): Finder {
  const anchors = createLiterals<Anchor>({ ignoreCase: true });
  for (const ending of new Set([...nameEndings, ...keys.keys(), ...queries.keys()])) anchors.add(ending, "name");
  for (const shape of shapes) {
    if (waived.has(shape.rule)) continue;
    for (const beginning of shape.beginnings) anchors.add(beginning, shape);
  }
  anchors.add("://", "authority");

  return {
    find(views, kind) {
      const setting: Setting = { kind, keys, queries };
      let found: Found[] = [];
      for (const view of views) {
        const hits = [...findInView(view.text, anchors, setting, waived), ...findPatterns(view.text, patterns)];
        if (hits.length === 0) continue;
        // An inner view takes the ends of strings for what they are not: what it sees within a find is not news.
        const known = within(found);
        const news = hits.map((hit) => inOriginal(hit, view)).filter((hit) => !known(hit));
        found = [...found, ...news];
      }
      return found;
    },
  };
}
