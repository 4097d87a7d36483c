import { concatBytes, decodeLatin1 } from "../../wire/bytes.ts";
import type { Chunk, TrackDraft } from "../draft.ts";
import type { Headers, Json } from "../schema.ts";
import { mapCharacters } from "./characters.ts";
import { type FieldMap, mapDraft, mapHeaders, restateLength } from "./draft-fields.ts";
import { isSecretVariable, secretsOfEnvironment } from "./environment.ts";
import { createFinder } from "./find.ts";
import type { Found, Setting } from "./found.ts";
import { findInHeader } from "./header-places.ts";
import { mapJson } from "./json-tree.ts";
import { ruleOfName } from "./names.ts";
import { compileRules, type RedactOptions, type RedactRule } from "./rules.ts";
import { createSecrets } from "./secrets.ts";
import { createSeenTexts } from "./seen-texts.ts";
import { mergeSpans, replaceInChunks, replaceSpans, type Span } from "./spans.ts";
import { isSecretValue } from "./values.ts";
import { viewsOf } from "./views.ts";

/** A request as a boundary has it before it is a track. */
export interface LiveRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: Uint8Array | undefined;
}

/**
 * Takes the secrets out of one recording. It knows them by place, by shape and by value (see rules.ts); the same value
 * gets the same pseudonym in everything that one redactor sees. Nothing that is no secret changes: what holds none is
 * returned as the very same object, and a pseudonym is never redacted again. No argument is mutated.
 */
export interface Redactor {
  /**
   * A whole track: its secrets are learned first, wherever they stand, then replaced everywhere in it. With a key it is
   * remembered, for `outdated`.
   */
  track<T extends TrackDraft>(draft: T, key?: string): T;
  /**
   * The keys of what was redacted and may hold a secret that was learned behind it: it is to be redacted again. Each
   * secret is told of once. The cost of a secret that stands nowhere else hardly grows with what is remembered.
   */
  outdated(): ReadonlySet<string>;
  /** A text for people (errors, diffs, logs) or a name. */
  text(text: string): string;
  /** A value of a call or a variable. `key`: as for tracks. */
  json<T extends Json>(value: T, key?: string): T;
  /** A live request, for its identity. A `content-length` that was right stays so. */
  request<T extends LiveRequest>(request: T): T;
  /** Makes the secrets of an environment known, as those of `createRedactor`'s: a child may have one of its own. */
  environment(variables: Readonly<Record<string, string | undefined>>): void;
  /** How often each rule replaced something in tracks and values so far. */
  counts(): Record<string, number>;
}

export type { RedactOptions, RedactRule };

type Kind = Setting["kind"];

/** What was seen in a text: what is secret by its place or shape, and whether there was nothing to replace at all. */
interface Look {
  readonly found: readonly Found[];
  readonly clean: boolean;
}

const none: readonly Span[] = [];
const noFinds: readonly Found[] = [];
const unseen: Look = { found: [], clean: false };
/** Replacing comes to rest sooner: every round leaves fewer characters that are in no pseudonym. */
const maxRounds = 10;
const formBody = /^[\w.~%+[\]-]+=[^\s"'<>{};]*$/;

/** Whether nothing of the text is left to look at beside what its place says. */
const isWhole = (text: string, placed: readonly Found[]): boolean =>
  placed.length === 1 && placed[0]!.start === 0 && placed[0]!.end === text.length;

function kindOfBody(text: string, media: string | undefined): Kind {
  if (media !== undefined) return media.includes("x-www-form-urlencoded") ? "query" : "text";
  return text.length < 65_536 && formBody.test(text) ? "query" : "text";
}

/**
 * A redactor for one recording. `environment` is where the values of variables whose names say "secret" are taken
 * from. Throws `OptionInvalid` for an unknown option, a rule without exactly one place, a waived rule that is unknown.
 */
export function createRedactor(
  options: RedactOptions = {},
  environment: Readonly<Record<string, string | undefined>> = {},
): Redactor {
  const rules = compileRules(options);
  const finder = createFinder(rules);
  const secrets = createSecrets();
  const counts = new Map<string, number>();
  const waived = (rule: string): boolean => rules.waived.has(rule);

  for (const { rule, value } of rules.values) secrets.announce(value, rule);
  function announceEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
    if (waived("environment")) return;
    for (const value of secretsOfEnvironment(variables)) secrets.announce(value, "environment");
  }
  announceEnvironment(environment);
  secrets.takeNews(); // nothing was redacted before them

  const memory = createSeenTexts();
  let outdated = new Set<string>();
  /** Asks for the holders of what was learned since. */
  function noteOutdated(): void {
    const news = secrets.takeNews();
    if (news.length > 0) for (const key of memory.holdersOf(news)) outdated.add(key);
  }

  // The value in hand. Redaction is synchronous: there is one at a time.
  let replacing = false;
  let counting = false;
  let begun = 0;
  let hit = false;
  let viewed: string[] = [];
  const seen: { readonly [kind in Kind]: Map<string, Look> } = {
    query: new Map(),
    text: new Map(),
    message: new Map(),
  };

  function learn(text: string, kind: Kind, placed: readonly Found[]): void {
    const known = seen[kind].get(text);
    if (placed.length > 0 || known?.clean === false) hit = true;
    if (known !== undefined && placed.length === 0) return;
    secrets.reserve(text);
    for (const one of placed) secrets.learn(one);
    if (isWhole(text, placed)) return;
    const views = viewsOf(text);
    for (const view of views) viewed.push(view.text);
    const found = finder.find(views, kind);
    for (const one of found) secrets.learn(one);
    const clean = found.length === 0 && secrets.find(views).length === 0;
    if (!clean) hit = true;
    seen[kind].set(text, { found, clean });
  }

  function replace(text: string, kind: Kind, placed: readonly Found[]): readonly Span[] {
    const { found, clean } = seen[kind].get(text) ?? unseen;
    // What held nothing when it was looked at holds nothing now, unless a secret was learned behind it.
    if (clean && placed.length === 0 && secrets.generation === begun) return none;
    const spans = [...placed, ...found].map((one): Span => {
      const { start, end, rule, quote = "" } = one;
      return { start, end, rule, replacement: quote + secrets.learn(one).pseudonym + quote };
    });
    const merged = isWhole(text, placed) ? spans : mergeSpans([...spans, ...secrets.find(viewsOf(text))]);
    if (counting) for (const { rule } of merged) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    return merged;
  }

  /** The spans of a byte text: none while the secrets are learned. `placed`: what its place says of it. */
  function spansOf(text: string, kind: Kind, placed: readonly Found[] = noFinds): readonly Span[] {
    if (replacing) return replace(text, kind, placed);
    learn(text, kind, placed);
    return none;
  }
  const bytesOf = (text: string, kind: Kind, placed?: readonly Found[]): string =>
    replaceSpans(text, spansOf(text, kind, placed));
  const charactersOf = (text: string, kind: Kind): string => mapCharacters(text, (part) => bytesOf(part, kind));

  /** A text that is a secret as a whole where its rule says so. */
  function wholeOf(text: string, rule: string | undefined): string {
    if (rule === undefined || waived(rule) || !isSecretValue(text)) return charactersOf(text, "text");
    return mapCharacters(text, (secret) => bytesOf(secret, "text", [{ rule, start: 0, end: secret.length, secret }]));
  }

  const fields: FieldMap = {
    url: (text) => charactersOf(text, "query"),
    text: (text) => charactersOf(text, "text"),
    message: (text) => charactersOf(text, "message"),
    header: (name, value) => bytesOf(value, "text", findInHeader(name, value, rules)),
    variable: (name, value) =>
      wholeOf(value, isSecretVariable(name, value) ? (ruleOfName(name) ?? "environment") : undefined),
    argument: (option, value) => wholeOf(value, rules.keys.get(option.toLowerCase()) ?? ruleOfName(option)),
    json: (value) => mapJson(value, { rules, text: fields.text, secret: wholeOf }),
    bytes<C extends Chunk>(chunks: readonly C[], media: string | undefined): readonly C[] {
      const pieces = chunks.map(({ bytes }) => bytes);
      const text = decodeLatin1(pieces.length === 1 ? pieces[0]! : concatBytes(pieces));
      return replaceInChunks(chunks, text, spansOf(text, kindOfBody(text, media)));
    },
  };

  /**
   * Looks through the value and learns, then replaces where something was seen; what is clean costs one look. A
   * pseudonym that takes the place of a quote changes what stands around it, so what was replaced is looked at again.
   */
  function redact<T>(value: T, count: boolean, map: (value: T, fields: FieldMap) => T, key?: string): T {
    let redacted = value;
    counting = count;
    try {
      for (let round = 0; round < maxRounds; round++) {
        begun = secrets.generation;
        hit = false;
        replacing = false;
        map(redacted, fields);
        if (!hit) break;
        replacing = true;
        redacted = map(redacted, fields);
      }
      if (key !== undefined) {
        noteOutdated(); // before it is remembered: it is clean of what is known
        for (const text of viewed) memory.add(text, key);
      }
      return redacted;
    } finally {
      // Neither secrets nor texts are kept longer than they are needed.
      for (const looks of Object.values(seen)) looks.clear();
      viewed = [];
    }
  }

  return {
    track: (draft, key) => redact(draft, true, mapDraft, key),
    outdated() {
      noteOutdated();
      const keys = outdated;
      outdated = new Set();
      return keys;
    },
    text: (text) => redact(text, false, (value, fields) => fields.message(value)),
    json: (value, key) => redact(value, true, (tree, fields) => fields.json(tree) as typeof tree, key),
    request: (request) => redact(request, false, mapRequest),
    environment: announceEnvironment,
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function mapRequest<T extends LiveRequest>(request: T, fields: FieldMap): T {
  const url = fields.url(request.url);
  const headers = mapHeaders(request.headers, fields);
  const { body } = request;
  let bytes = body;
  if (body !== undefined) {
    const media = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
    bytes = fields.bytes([{ at: 0, bytes: body }], media)[0]!.bytes;
  }
  if (url === request.url && headers === request.headers && bytes === body) return request;
  if (body === undefined || bytes === undefined || bytes === body) return { ...request, url, headers };
  return { ...request, url, headers: restateLength(headers, body.length, bytes.length), body: bytes };
}
