import { decodeBase64, decodeLatin1, decodeUtf8, encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { toUrlAlphabet } from "./base64.ts";
import { secretsOfEnvironment } from "./environment.ts";
import type { NamedValue } from "./rules.ts";
import { credentialValues } from "./scan-places.ts";
import { type RawFinding, tokenShapes } from "./scan-shapes.ts";
import { shortestSearched } from "./values.ts";

/** Something that looks like a secret: where it is and of which kind, never what it is. */
export interface SecretFinding {
  /** The rule that takes such a secret out, and by whose name it can be waived. */
  readonly rule: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
}

export interface ScanOptions {
  /** Where the values of variables whose names say "secret" are taken from. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Values that the caller called secret, and the rules that did. */
  readonly values?: readonly NamedValue[];
  /** Names of rules that have their peace. */
  readonly waive?: readonly string[];
}

/**
 * Looks through the printed text of a cassette, or a line of its journal, for what redaction should have taken out. It
 * shares no way of finding with the redactor, so that a fault there does not hide itself: this one reads the text with
 * plain expressions, that one walks the track. It sees less and is quick to be satisfied: what it reports is to be
 * believed.
 */
export function scanForSecrets(text: string, options: ScanOptions = {}): SecretFinding[] {
  const waived = new Set(options.waive);
  const spellings = spellingsOfOptions(options);
  const found: RawFinding[] = [...credentialValues(text), ...tokenShapes(text), ...spelledValues(text, spellings)];
  for (const { 1: encoded, index } of text.matchAll(/"(?:base64|\$bytes)": ?"([A-Za-z\d+/]{16,}={0,2})"/g)) {
    const bytes = decodeBase64(encoded!);
    if (bytes === undefined) continue;
    const inside = decodeLatin1(bytes);
    for (const { rule } of [...tokenShapes(inside), ...spelledValues(inside, spellings)]) {
      found.push({ rule, offset: index });
    }
  }
  return inOrder(
    text,
    found.filter(({ rule }) => !waived.has(rule)),
  );
}

/** One finding a place and rule, told as line and column. */
function inOrder(text: string, found: readonly RawFinding[]): SecretFinding[] {
  const sorted = [...found].sort((a, b) => a.offset - b.offset || (a.rule < b.rule ? -1 : 1));
  const findings: SecretFinding[] = [];
  let line = 1;
  let lineStart = 0;
  let last = "";
  for (const { rule, offset } of sorted) {
    for (let end = text.indexOf("\n", lineStart); end >= 0 && end < offset; end = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = end + 1;
    }
    if (last === `${rule} ${offset}`) continue;
    last = `${rule} ${offset}`;
    findings.push({ rule, line, column: [...text.slice(lineStart, offset)].length + 1 });
  }
  return findings;
}

interface Spelling {
  readonly rule: string;
  readonly text: string;
  /** It counts only where no letter or digit touches it: it could be a part of a word or of a digest. */
  readonly bounded: boolean;
}

// Every line of a journal is scanned with the same values.
const spelled = new WeakMap<object, readonly Spelling[]>();

function spellingsOnce(source: object, valuesOf: () => readonly NamedValue[]): readonly Spelling[] {
  let spellings = spelled.get(source);
  if (spellings === undefined) spelled.set(source, (spellings = valuesOf().flatMap(spellingsOf)));
  return spellings;
}

function spellingsOfOptions({ environment = {}, values = [] }: ScanOptions): readonly Spelling[] {
  const ofEnvironment = (): NamedValue[] =>
    secretsOfEnvironment(environment).map((value) => ({ rule: "environment", value }));
  return [...spellingsOnce(environment, ofEnvironment), ...spellingsOnce(values, () => values)];
}

function spellingsOf({ rule, value }: NamedValue): Spelling[] {
  const word = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/.test(value);
  const short = value.length < shortestSearched;
  if (word && short) return []; // "text" is a key of every cassette, 4711 a time or a size
  const bytes = encodeUtf8(value);
  const latin1 = decodeLatin1(bytes); // as a header shows it
  const escaped = [value, latin1].map((text) => JSON.stringify(text).slice(1, -1));
  const twice = escaped.map((text) => JSON.stringify(text).slice(1, -1));
  const percent = encodeURIComponent(decodeUtf8(bytes) ?? latin1); // what has no UTF-8 it would throw at
  const lower = percent.replace(/%../g, (byte) => byte.toLowerCase());
  const base64 = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // What a neighbour has a share in is not compared: 2 or 3 characters in front, the last group behind.
    const whole = encodeBase64(padded).slice(before === 0 ? 0 : before + 1);
    return whole.replace(/=+$/, "").slice(0, -1);
  });
  const urlSafe = base64.map(toUrlAlphabet);
  return [
    ...[...new Set([value, latin1, ...escaped, ...twice, percent, lower])].map((text) => ({
      rule,
      text,
      bounded: word || short,
    })),
    ...[...new Set([...base64, ...urlSafe])]
      .filter((text) => text.length >= shortestSearched)
      .map((text) => ({ rule, text, bounded: false })),
  ];
}

function spelledValues(text: string, spellings: readonly Spelling[]): RawFinding[] {
  const found: RawFinding[] = [];
  for (const { rule, text: spelling, bounded } of spellings) {
    for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + spelling.length)) {
      const touched = /[A-Za-z\d]/.test(`${text[at - 1] ?? ""}${text[at + spelling.length] ?? ""}`);
      if (!bounded || !touched) found.push({ rule, offset: at });
    }
  }
  return found;
}
