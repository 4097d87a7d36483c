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
import { mergeSpans, replaceInChunks, replaceSpans, type Span } from "./spans.ts";
import { isSecretValue } from "./values.ts";

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
  /** A whole track: its secrets are learned first, wherever they stand, then replaced everywhere in it. */
  track<T extends TrackDraft>(draft: T): T;
  /** Grows when a secret was learned that may stand in what was redacted before: that is to be redacted again. */
  readonly generation: number;
  /** A text for people (errors, diffs, logs) or a name. */
  text(text: string): string;
  /** A value of a call or a variable. */
  json<T extends Json>(value: T): T;
  /** A live request, for its identity. A `content-length` that was right stays so. */
  request<T extends LiveRequest>(request: T): T;
  /** How often each rule replaced something in tracks and values so far. */
  counts(): Record<string, number>;
}

export type { RedactOptions, RedactRule };

type Kind = Setting["kind"];
type Find = (text: string, kind: Kind) => readonly Found[];

/** How a pass over a value treats each byte text of it: it only learns, or it replaces. */
type Treat = (text: string, found: readonly Found[]) => readonly Span[];

const none: readonly Span[] = [];
const formBody = /^[\w.~%+[\]-]+=[^\s"'<>{}]*$/;

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
  if (!waived("environment"))
    for (const value of secretsOfEnvironment(environment)) secrets.announce(value, "environment");
  const announced = secrets.generation;

  const learn: Treat = (_, found) => {
    for (const one of found) secrets.learn(one);
    return none;
  };

  function replacing(count: boolean): Treat {
    return (text, found) => {
      const placed = found.map((one): Span => {
        const { pseudonym } = secrets.learn(one);
        const { start, end, rule, quote = "" } = one;
        return { start, end, rule, replacement: quote + pseudonym + quote };
      });
      const spans = mergeSpans([...placed, ...secrets.find(text)]);
      if (count) for (const { rule } of spans) counts.set(rule, (counts.get(rule) ?? 0) + 1);
      return spans;
    };
  }

  function fieldsWith(treat: Treat, find: Find): FieldMap {
    const bytes = (text: string, found: readonly Found[]): string => replaceSpans(text, treat(text, found));
    const plain = (text: string, kind: Kind): string => mapCharacters(text, (part) => bytes(part, find(part, kind)));
    /** A value that is a secret as a whole where its rule says so. */
    const whole = (text: string, rule: string | undefined): string => {
      if (rule === undefined || waived(rule) || !isSecretValue(text)) return plain(text, "text");
      return mapCharacters(text, (part) => bytes(part, [{ rule, start: 0, end: part.length, secret: part }]));
    };
    const fields: FieldMap = {
      url: (text) => plain(text, "query"),
      text: (text) => plain(text, "text"),
      message: (text) => plain(text, "message"),
      header(name, value) {
        const placed = findInHeader(name, value, rules);
        return bytes(value, placed.length > 0 ? [...placed, ...find(value, "text")] : find(value, "text"));
      },
      variable: (name, value) =>
        whole(value, isSecretVariable(name, value) ? (ruleOfName(name) ?? "environment") : undefined),
      argument: (option, value) => whole(value, rules.keys.get(option.toLowerCase()) ?? ruleOfName(option)),
      json: (value) => mapJson(value, { rules, text: fields.text, secret: whole }),
      bytes<C extends Chunk>(chunks: readonly C[], media: string | undefined): readonly C[] {
        const text = decodeLatin1(
          chunks.length === 1 ? chunks[0]!.bytes : concatBytes(chunks.map((chunk) => chunk.bytes)),
        );
        return replaceInChunks(chunks, text, treat(text, find(text, kindOfBody(text, media))));
      },
    };
    return fields;
  }

  /** Looks once, learns, and replaces only where there is something that could be. */
  function redact<T>(value: T, count: boolean, map: (value: T, fields: FieldMap) => T): T {
    const seen = new Map<string, readonly Found[]>();
    let some = secrets.size > 0;
    const find: Find = (text, kind) => {
      const key = kind + text;
      let found = seen.get(key);
      if (found === undefined) {
        found = finder.find(text, kind);
        seen.set(key, found);
      }
      return found;
    };
    map(
      value,
      fieldsWith((text, found) => {
        some ||= found.length > 0;
        return learn(text, found);
      }, find),
    );
    return some ? map(value, fieldsWith(replacing(count), find)) : value;
  }

  return {
    get generation() {
      return secrets.generation - announced;
    },
    track: (draft) => redact(draft, true, mapDraft),
    text: (text) => redact(text, false, (value, fields) => fields.message(value)),
    json: (value) => redact(value, true, (tree, fields) => fields.json(tree) as typeof tree),
    request: (request) => redact(request, false, mapRequest),
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
