import { OptionInvalid } from "../../errors.ts";
import { nameRules } from "./names.ts";
import { shapes } from "./shapes.ts";
import { shortestNamed } from "./values.ts";

/**
 * A rule of the caller's own: a name, and exactly one place. The name is that of the pseudonyms (`REDACTED-<name>-1`)
 * and the one by which the rule is counted and waived; several rules may share it.
 */
export interface RedactRule {
  /** Lower-case letters, digits and hyphens. */
  name: string;
  /** The value of this header, in requests and responses. Case does not matter, here and below. */
  header?: string;
  /** The value of this parameter, in URLs and forms. */
  query?: string;
  /** The value of this key, in JSON, multipart bodies and XML. */
  key?: string;
  /** The value of this cookie, in `cookie` and `set-cookie`. */
  cookie?: string;
  /** What this expression matches, or its first group where it has one. It sees one body, URL or header at a time. */
  pattern?: RegExp;
  /** This very value, wherever it appears and however it is encoded. */
  value?: string;
}

export interface RedactOptions {
  /** Rules beside the built-in ones. */
  add?: readonly RedactRule[];
  /** Values that are secret wherever they appear, of at least four characters. */
  values?: readonly string[];
  /** Names of rules that are left out, built-in or added. */
  waive?: readonly string[];
}

export interface PatternRule {
  readonly rule: string;
  readonly pattern: RegExp;
}

/** A value that the caller called secret outright. */
export interface NamedValue {
  readonly rule: string;
  readonly value: string;
}

/** The rules that are in force. Names of places are in lower case. */
export interface Rules {
  readonly headers: ReadonlyMap<string, string>;
  readonly queries: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  readonly cookies: ReadonlyMap<string, string>;
  readonly patterns: readonly PatternRule[];
  readonly values: readonly NamedValue[];
  readonly waived: ReadonlySet<string>;
}

/** The names of the built-in rules, in order. */
export const builtInRules: readonly string[] = [
  ...new Set([...nameRules, ...shapes.map(({ rule }) => rule), "url-password", "value", "environment"]),
].sort();

const places = ["header", "query", "key", "cookie", "pattern", "value"] as const;
const optionNames = ["add", "values", "waive"];

const list = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(", ");

function refuse(what: string, next: string): never {
  throw new OptionInvalid(`redact: ${what}.\n${next}`);
}

function checkValue(value: unknown, where: string): asserts value is string {
  // The value itself is not shown: it is a secret.
  if (typeof value !== "string") refuse(`${where} is not a string`, "Give the secret as a string.");
  if (value.length < shortestNamed) {
    refuse(
      `${where} has fewer than ${shortestNamed} characters`,
      "So short a value would be replaced inside of other words; name its place instead: { name, header | query | key | cookie }.",
    );
  }
}

function checkRule(rule: unknown, where: string): asserts rule is RedactRule {
  if (typeof rule !== "object" || rule === null) {
    refuse(
      `${where} is not an object`,
      'A rule is { name, header }, for example { name: "tenant", header: "x-tenant" }.',
    );
  }
  const unknown = Object.keys(rule).filter((key) => key !== "name" && !(places as readonly string[]).includes(key));
  if (unknown.length > 0)
    refuse(`${where} has the unknown key ${list(unknown)}`, `Known keys: ${list(["name", ...places])}.`);
  const { name, pattern, value, ...named } = rule as RedactRule;
  if (typeof name !== "string" || !/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name)) {
    refuse(`${where} has no usable name`, 'A name is made of lower-case letters, digits and hyphens: "tenant-key".');
  }
  const given = places.filter((place) => (rule as RedactRule)[place] !== undefined);
  if (given.length !== 1) {
    refuse(
      `${where} (${JSON.stringify(name)}) has ${given.length === 0 ? "no place" : `${given.length} places: ${list(given)}`}`,
      `Give exactly one of ${list(places)}; rules that belong together may share a name.`,
    );
  }
  if (pattern !== undefined && !(pattern instanceof RegExp)) {
    refuse(
      `${where} (${JSON.stringify(name)}) has a pattern that is no RegExp`,
      "Give an expression: /tnt_[a-z0-9]{20}/.",
    );
  }
  if (pattern !== undefined && withIndices(pattern).test("")) {
    refuse(
      `${where} (${JSON.stringify(name)}) has a pattern that matches the empty text`,
      "Let it match at least one character.",
    );
  }
  if (value !== undefined) checkValue(value, `${where} (${JSON.stringify(name)}), value`);
  for (const [place, text] of Object.entries(named)) {
    if (text !== undefined && (typeof text !== "string" || !/^[\w.-]{2,64}$/.test(text))) {
      refuse(
        `${where} (${JSON.stringify(name)}) has an unusable ${place}`,
        `Give the name of the ${place}: 2 to 64 letters, digits, "_", "." and "-". For anything else use a pattern.`,
      );
    }
  }
}

/** Checks the options and sorts the rules by place. Throws `OptionInvalid`, and never shows a value in it. */
export function compileRules(options: RedactOptions = {}): Rules {
  const unknown = Object.keys(options).filter((key) => !optionNames.includes(key));
  if (unknown.length > 0) {
    refuse(
      `unknown option ${list(unknown)}`,
      `Known options: ${list(optionNames)}. There is no switch for all; waive single rules by name.`,
    );
  }
  const { add = [], values = [], waive = [] } = options;
  for (const [name, value] of Object.entries({ add, values, waive })) {
    if (!Array.isArray(value)) refuse(`${name} is not a list`, `Give a list: { ${name}: […] }.`);
  }
  add.forEach((rule, i) => void checkRule(rule, `add[${i}]`));
  values.forEach((value, i) => void checkValue(value, `values[${i}]`));
  const known = new Set([...builtInRules, ...add.map(({ name }) => name)]);
  const strange = waive.filter((name) => !known.has(name));
  if (strange.length > 0) {
    refuse(`waive names no rule: ${list(strange)}`, `Known rules: ${[...known].sort().join(", ")}.`);
  }
  const waived = new Set(waive);
  const active = add.filter(({ name }) => !waived.has(name));
  const named = (place: "header" | "query" | "key" | "cookie"): ReadonlyMap<string, string> =>
    new Map(active.flatMap((rule) => (rule[place] === undefined ? [] : [[rule[place].toLowerCase(), rule.name]])));
  return {
    headers: named("header"),
    queries: named("query"),
    keys: named("key"),
    cookies: named("cookie"),
    patterns: active.flatMap(({ name, pattern }) =>
      pattern === undefined ? [] : [{ rule: name, pattern: withIndices(pattern) }],
    ),
    values: [
      ...(waived.has("value") ? [] : values.map((value) => ({ rule: "value", value }))),
      ...active.flatMap(({ name, value }) => (value === undefined ? [] : [{ rule: name, value }])),
    ],
    waived,
  };
}

/** A copy of our own, which looks for every match and says where its groups are. */
function withIndices(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, [...new Set(`${pattern.flags.replace("y", "")}dg`)].join(""));
}
