import { decodeLatin1, decodeUtf8, encodeBase64, encodeLatin1, encodeUtf8 } from "../../wire/bytes.ts";
import { decodeEitherBase64, toUrlAlphabet } from "./base64.ts";
import { createLiterals } from "./literals.ts";
import type { Secret } from "./pseudonyms.ts";
import { mergeSpans, replaceSpans, type Span, within } from "./spans.ts";
import { isPlainWord, pseudonymPattern } from "./values.ts";
import { type View, viewsOf } from "./views.ts";

/** The values that are replaced wherever they appear: as they are, percent-encoded, JSON-escaped, in base64. */
export interface KnownValues {
  has(value: string): boolean;
  /** Adds a value (byte text); `false` where it was known. */
  add(secret: Secret, value: string): boolean;
  /** What is looked for in views since this was asked before: values and their base64. */
  takeNews(): readonly string[];
  /** Spans that cover every appearance, those in pseudonyms aside. They may overlap. */
  find(views: readonly View[]): readonly Span[];
}

interface Needle {
  readonly secret: Secret;
  readonly value: string;
  /** A plain word counts only where no letter or digit touches it. */
  readonly bounded: boolean;
  /** For base64: how many characters before the needle its group of four begins. */
  readonly lead?: number;
}

const shortestBase64 = 6;

/** The part of base64 that a value decides alone, whatever stands before and after it, for each of the three alignments. */
function base64Needles(value: string): { readonly text: string; readonly lead: number }[] {
  return [0, 1, 2].map((offset) => {
    const encoded = encodeBase64(encodeLatin1("\0".repeat(offset) + value));
    const lead = offset === 0 ? 0 : offset + 1;
    const whole = Math.floor(((offset + value.length) * 8) / 6);
    return { text: encoded.slice(lead, whole), lead };
  });
}

function wordAt(text: string, index: number): boolean {
  return index >= 0 && index < text.length && /[A-Za-z\d]/.test(text[index]!);
}

/** The byte texts of a value: its UTF-8 bytes, and those of Latin-1, which headers are in. */
function spellings(value: string): readonly string[] {
  if (/^[\x00-\x7f]*$/.test(value)) return [value];
  const characters = decodeUtf8(encodeLatin1(value));
  if (characters === undefined) return [value, decodeLatin1(encodeUtf8(value))];
  return /^[\x00-\xff]*$/.test(characters) ? [value, characters] : [value];
}

const base64Run = /[\w+/-]*={0,2}/y;

export function createKnownValues(): KnownValues {
  const needles = createLiterals<Needle>();
  const values = new Set<string>();
  let news: string[] = [];

  function addNeedle(text: string, needle: Needle): void {
    needles.add(text, needle);
    news.push(text);
  }

  function addNeedles(secret: Secret, value: string): void {
    const bounded = isPlainWord(value);
    const plain = new Set([value, value.replaceAll(" ", "+")]); // a form has "+" for a space
    for (const text of plain) addNeedle(text, { secret, value, bounded });
    for (const { text, lead } of base64Needles(value)) {
      if (text.length < shortestBase64) continue;
      for (const spelled of new Set([text, toUrlAlphabet(text)]))
        addNeedle(spelled, { secret, value, bounded: false, lead });
    }
  }

  function plainSpan(view: View, needle: Needle, start: number, end: number): Span | undefined {
    if (needle.bounded && (wordAt(view.text, start - 1) || wordAt(view.text, end))) return undefined;
    return {
      start: view.origin(start),
      end: view.origin(end),
      replacement: needle.secret.pseudonym,
      rule: needle.secret.rule,
    };
  }

  /** The rest of the base64 from the group in which the value begins, encoded again with the pseudonym inside. */
  function base64Span(view: View, { secret, value, lead = 0 }: Needle, start: number): Span | undefined {
    const from = start - lead;
    if (from < 0) return undefined;
    base64Run.lastIndex = from;
    const run = base64Run.exec(view.text)?.[0] ?? "";
    const body = run.replace(/=+$/, "");
    const url = /[-_]/.test(body);
    const bytes = decodeEitherBase64(body);
    const rule = secret.rule;
    if (bytes === undefined) {
      // Not base64 as an encoder prints it, yet it says the secret: as much of it goes as the secret takes.
      const groups = Math.ceil(((lead === 0 ? 0 : lead - 1) + value.length) / 3) * 4;
      const end = Math.min(from + groups, from + run.length);
      return { start: view.origin(from), end: view.origin(end), replacement: secret.pseudonym, rule };
    }
    const decoded = decodeLatin1(bytes);
    if (!decoded.includes(value)) return undefined;
    const inside = replaceSpans(decoded, mergeSpans(find(viewsOf(decoded))));
    const encoded = encodeBase64(encodeLatin1(inside));
    // Padded as it was; where its length left that open, as its alphabet is used to be.
    const padded = run.length > body.length || (body.length % 4 === 0 && !url);
    const text = padded ? encoded : encoded.replace(/=+$/, "");
    const replacement = view.encode(url ? toUrlAlphabet(text) : text);
    return { start: view.origin(from), end: view.origin(from + run.length), replacement, rule };
  }

  function find(views: readonly View[]): readonly Span[] {
    const spans: Span[] = [];
    if (needles.size === 0) return spans;
    for (const view of views) {
      let covered = 0; // by base64 that was decoded whole, with all that it holds
      needles.each(view.text, (needle, start, end) => {
        if (needle.lead !== undefined && start < covered) return;
        const span = needle.lead === undefined ? plainSpan(view, needle, start, end) : base64Span(view, needle, start);
        if (span === undefined) return;
        spans.push(span);
        if (needle.lead !== undefined) covered = base64Run.lastIndex;
      });
    }
    const { text } = views[0]!;
    return spans.length > 0 && text.includes("REDACTED-") ? outsidePseudonyms(text, spans) : spans;
  }

  return {
    has: (value) => values.has(value),
    add(secret, value) {
      if (values.has(value)) return false;
      values.add(value);
      for (const spelling of spellings(value)) addNeedles(secret, spelling);
      return true;
    },
    takeNews() {
      const taken = news;
      news = [];
      return taken;
    },
    find,
  };
}

/** A secret may be a word that pseudonyms are made of: what lies in one is left alone. */
function outsidePseudonyms(text: string, spans: readonly Span[]): Span[] {
  const names = [...text.matchAll(pseudonymPattern)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
  const inName = within(names);
  return spans.filter((span) => !inName(span));
}
