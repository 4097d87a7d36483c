import { decodeBase64, decodeLatin1, encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { secretsOfEnvironment } from "./environment.ts";
import { credentialValues } from "./scan-places.ts";
import { type RawFinding, tokenShapes } from "./scan-shapes.ts";

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
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Names of rules that have their peace. */
  readonly waive?: readonly string[];
  /** Values that may stay: known examples. */
  readonly allow?: readonly string[];
}

/**
 * Looks through the printed text of a cassette, or a line of its journal, for what redaction should have taken out. It
 * shares no way of finding with the redactor, so that a fault there does not hide itself: this one reads the text with
 * plain expressions, that one walks the track. It sees less and is quick to be satisfied: what it reports is to be
 * believed.
 */
export function scanForSecrets(text: string, options: ScanOptions = {}): SecretFinding[] {
  const { environment, waive = [], allow = [] } = options;
  const waived = new Set(waive);
  const allowed = new Set(allow);
  const found: RawFinding[] = [...credentialValues(text, allowed), ...tokenShapes(text, allowed)];
  const values = environment === undefined ? [] : spelledSecrets(environment);
  if (!waived.has("environment")) found.push(...spelledValues(text, values));
  for (const { 1: encoded, index } of text.matchAll(/"(?:base64|\$bytes)": ?"([A-Za-z\d+/]{16,}={0,2})"/g)) {
    const bytes = decodeBase64(encoded!);
    if (bytes === undefined) continue;
    const inside = decodeLatin1(bytes);
    const hits = [...tokenShapes(inside, allowed), ...(waived.has("environment") ? [] : spelledValues(inside, values))];
    for (const { rule } of hits) found.push({ rule, offset: index });
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
  readonly text: string;
  /** A plain word counts only where no letter or digit touches it. */
  readonly word: boolean;
}

// The environment of a process is one object, and every line of a journal is scanned with it.
const spelled = new WeakMap<object, readonly Spelling[]>();

function spelledSecrets(environment: NonNullable<ScanOptions["environment"]>): readonly Spelling[] {
  let spellings = spelled.get(environment);
  if (spellings === undefined) {
    spellings = secretsOfEnvironment(environment).flatMap(spellingsOf);
    spelled.set(environment, spellings);
  }
  return spellings;
}

function spellingsOf(secret: string): Spelling[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(escaped).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const bytes = encodeUtf8(secret);
  const base64 = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // What a neighbour has a share in is not compared: 2 or 3 characters in front, the last group behind.
    const whole = encodeBase64(padded).slice(before === 0 ? 0 : before + 1);
    return whole.replace(/=+$/, "").slice(0, -1);
  });
  const word = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/.test(secret);
  return [
    ...[...new Set([secret, escaped, twice, percent, percent.toLowerCase()])].map((text) => ({ text, word })),
    ...base64.filter((text) => text.length >= 8).map((text) => ({ text, word: false })),
  ];
}

function spelledValues(text: string, spellings: readonly Spelling[]): RawFinding[] {
  const found: RawFinding[] = [];
  for (const { text: spelling, word } of spellings) {
    for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + spelling.length)) {
      const touched = /[A-Za-z\d]/.test(`${text[at - 1] ?? ""}${text[at + spelling.length] ?? ""}`);
      if (!word || !touched) found.push({ rule: "environment", offset: at });
    }
  }
  return found;
}
