import { decodeLatin1, encodeUtf8 } from "../../wire/bytes.ts";
import { textOfBase64 } from "./base64.ts";
import type { Found } from "./found.ts";
import { createKnownValues } from "./known-values.ts";
import { createPseudonyms, type Secret } from "./pseudonyms.ts";
import type { Span } from "./spans.ts";
import { isPseudonym, isSearchable, looksRandom } from "./values.ts";
import type { View } from "./views.ts";

/** What is known to be secret so far: the values, their pseudonyms, and where they appear again. */
export interface Secrets {
  /** Grows with every value that is looked for everywhere. */
  readonly generation: number;
  /** A value that is secret without having been seen. */
  announce(value: string, rule: string): void;
  /** Makes a find known, with what it is made of, and says what stands for it. */
  learn(found: Found): Secret;
  /** Keeps clear of the pseudonyms that a text has already. */
  reserve(text: string): void;
  /** Where known values appear in a byte text, given with what it says decoded. */
  find(views: readonly View[]): readonly Span[];
  /** What `find` looks for that was not known when this was asked before. */
  takeNews(): readonly string[];
}

/** Rules whose places hold much that is no secret: what they find is looked for elsewhere only if it looks like one. */
const doubtfulRules = new Set(["key", "code"]);

const scheme = /^([A-Za-z][\w-]*) +(\S+)$/;

export function createSecrets(): Secrets {
  const pseudonyms = createPseudonyms();
  const known = createKnownValues();
  let generation = 0;

  function search(secret: Secret, value: string): void {
    if (known.add(secret, value)) generation++;
  }

  /** `Bearer abc`: what counts is `abc`, which comes and goes elsewhere without the word. */
  function learnAuthorization(value: string, rule: string): Secret {
    const [, word = "", credentials = value] = scheme.exec(value) ?? [];
    if (isPseudonym(credentials)) return { value: credentials, rule, pseudonym: credentials };
    const secret = pseudonyms.of(credentials, rule);
    if (!known.has(credentials) && isSearchable(credentials)) search(secret, credentials);
    const pair = word.toLowerCase() === "basic" ? textOfBase64(credentials) : undefined;
    if (pair?.includes(":")) learnPair(decodeLatin1(encodeUtf8(pair)), secret);
    return secret;
  }

  function learnPair(pair: string, secret: Secret): void {
    // Numbered before its parts: the header's own name comes first.
    void secret.pseudonym;
    pseudonyms.alias(pair, secret);
    if (isSearchable(pair)) search(secret, pair);
    const user = pair.slice(0, pair.indexOf(":"));
    const password = pair.slice(user.length + 1);
    // Some services take the key for the name and leave the password empty.
    const parts = looksRandom(user) && user.length >= 16 ? [password, user] : [password];
    for (const part of parts) if (isSearchable(part)) search(pseudonyms.of(part, secret.rule), part);
  }

  return {
    get generation() {
      return generation;
    },
    announce(value, rule) {
      const bytes = decodeLatin1(encodeUtf8(value));
      search(pseudonyms.of(bytes, rule), bytes);
    },
    learn({ secret: value, raw = value, rule, inPlaceOnly }) {
      if (rule.endsWith("authorization")) return learnAuthorization(value, rule);
      const secret = pseudonyms.of(value, rule);
      if (raw !== value) pseudonyms.alias(raw, secret);
      if (inPlaceOnly || (doubtfulRules.has(rule) && !looksRandom(value))) return secret;
      for (const spelling of [value, raw]) {
        if (!known.has(spelling) && isSearchable(spelling)) search(secret, spelling);
      }
      return secret;
    },
    reserve: pseudonyms.reserve,
    find: known.find,
    takeNews: known.takeNews,
  };
}
