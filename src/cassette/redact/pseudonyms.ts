import { pseudonymPattern } from "./values.ts";

/** A secret and the name that stands for it. Several values may share one: a token, and the header it came in. */
export interface Secret {
  readonly value: string;
  /** The rule that found it first; counted when it is replaced. */
  readonly rule: string;
  /** `REDACTED-<rule>-<n>`. Numbered when it is asked for first, so that what never appears takes no number. */
  readonly pseudonym: string;
}

/** The secrets of one recording. The same value has the same pseudonym wherever it appears. */
export interface Pseudonyms {
  /** The secret of this value, made known where it was not. A rule that knows its place replaces one that did not. */
  of(value: string, rule: string): Secret;
  /** Another value that stands for the same thing: gets the same pseudonym, unless it has its own already. */
  alias(value: string, secret: Secret): void;
  /** Keeps the numbers of the pseudonyms in a text from being given to other values. */
  reserve(text: string): void;
}

interface Entry extends Secret {
  rule: string;
  assigned: string | undefined;
}

/** Rules that know a value and not its place: a pseudonym is better named after the place. */
const placeless = new Set(["environment", "value"]);

export function createPseudonyms(): Pseudonyms {
  const entries = new Map<string, Entry>();
  const counters = new Map<string, number>();

  function assign(entry: Entry): string {
    const number = (counters.get(entry.rule) ?? 0) + 1;
    counters.set(entry.rule, number);
    return `REDACTED-${entry.rule}-${number}`;
  }

  function create(value: string, rule: string): Entry {
    return {
      value,
      rule,
      assigned: undefined,
      get pseudonym() {
        return (this.assigned ??= assign(this));
      },
    };
  }

  return {
    of(value, rule) {
      const known = entries.get(value);
      if (known !== undefined) {
        if (known.assigned === undefined && placeless.has(known.rule)) known.rule = rule;
        return known;
      }
      const entry = create(value, rule);
      entries.set(value, entry);
      return entry;
    },
    alias(value, secret) {
      if (!entries.has(value)) entries.set(value, entries.get(secret.value)!);
    },
    reserve(text) {
      if (!text.includes("REDACTED-")) return;
      for (const [, rule = "", number = ""] of text.matchAll(pseudonymPattern)) {
        if (number.length > 9) continue; // not one of ours, and too large to count on from
        counters.set(rule, Math.max(counters.get(rule) ?? 0, Number(number)));
      }
    },
  };
}

/** The text with every pseudonym cut to its class: `REDACTED-authorization-1` becomes `REDACTED-authorization`. */
export function pseudonymClass(text: string): string {
  return text.includes("REDACTED-") ? text.replace(pseudonymPattern, "REDACTED-$1") : text;
}
