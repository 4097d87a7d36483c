import type { Found } from "./found.ts";
import { isSecretValue } from "./values.ts";
import { unescapeJson } from "./views.ts";

const longestSingleQuoted = 4096;
const number = /-?\d[\d.eE+-]{0,64}/y;
const languageModelBefore =
  /"(?:logprob|bytes|token_id|rank)"\s{0,8}:\s{0,8}(?:[-\d.eE]{1,32}|null|\[[\d,\s]{0,256}\])\s{0,8},\s{0,8}$/;
const languageModelAfter =
  /\s{0,64},\s{0,64}"(?:logprob|bytes|token_id|rank|top_logprobs|is_special|special)"\s{0,8}:/y;

/** The offset of the quote that ends a string, or of the end of a text that was cut off. */
export function endOfString(text: string, from: number, quote: string): number {
  for (let end = text.indexOf(quote, from); end >= 0; end = text.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\" && end - 1 - escapes >= from) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/** Where a string ends that opened with this quote. Single quotes are apostrophes too: they are not trusted far. */
export function endOfQuoted(text: string, from: number, quote: string): number {
  return endOfString(quote === "'" ? text.slice(0, from + longestSingleQuoted) : text, from, quote);
}

/** A `token` beside a `logprob` is a piece of text of a language model. */
function isTextToken(text: string, keyStart: number, valueEnd: number): boolean {
  languageModelAfter.lastIndex = valueEnd;
  return languageModelAfter.test(text) || languageModelBefore.test(text.slice(Math.max(0, keyStart - 320), keyStart));
}

/** A short number that a name calls a token is a count or the number of a piece of text. */
export function isSecretNumber(name: string, literal: string): boolean {
  return !/token$/i.test(name) || (/^\d+$/.test(literal) && literal.length >= 8);
}

/** The value at `from`, after `"password":`: a string, a number, or a list of them. `keyStart`: where the key's quote is. */
export function findJsonValues(text: string, from: number, keyStart: number, name: string, rule: string): Found[] {
  const found: Found[] = [];
  const list = text[from] === "[";
  let at = list ? from + 1 : from;
  for (;;) {
    while (list && /\s/.test(text[at] ?? "")) at++;
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = endOfQuoted(text, at + 1, quote);
      const secret = unescapeJson(text.slice(at + 1, end));
      if (isSecretValue(secret) && !(rule === "token" && isTextToken(text, keyStart, end + 1)))
        found.push({ rule, start: at + 1, end, secret });
      at = end + 1;
    } else {
      number.lastIndex = at;
      const literal = number.exec(text)?.[0];
      if (literal === undefined) return found;
      if (isSecretNumber(name, literal))
        found.push({ rule, start: at, end: at + literal.length, secret: literal, quote: '"' });
      at += literal.length;
    }
    while (list && /\s/.test(text[at] ?? "")) at++;
    if (!list || text[at] !== ",") return found;
    at++;
  }
}
