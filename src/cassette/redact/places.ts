import type { Found, Setting } from "./found.ts";
import { endOfQuoted, findJsonValues } from "./json-places.ts";
import { ruleOfName, ruleOfParameter } from "./names.ts";
import { holdsPseudonym, isSecretValue, looksRandom } from "./values.ts";
import { decodeQuery, unescapeJson } from "./views.ts";

const identifier = /[\w.-]/;
const longestName = 64;

/** The name that ends here: `api_key` of `…"api_key`. */
function nameBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start <= longestName && identifier.test(text[start - 1]!)) start--;
  return text.slice(start, end);
}

function endOfParameter(text: string, from: number, kind: Setting["kind"]): number {
  const delimiter = kind === "query" ? /[&#]/g : /[&#\s"'<>\\;)\]}`]/g;
  delimiter.lastIndex = from;
  return delimiter.exec(text)?.index ?? text.length;
}

/** `key` and `code` name many things. They are credentials where what stands beside them says so. */
function isDoubtfulCredential(name: string, value: string, text: string, at: number): boolean {
  const around = text.slice(Math.max(0, at - 512), at + 512);
  if (name.toLowerCase() === "code")
    return /[?&#](?:state|grant_type|client_id|redirect_uri|code_verifier)=|^grant_type=/.test(around);
  return /\bgoogleapis\.com[/:]/.test(around) || (value.length >= 20 && looksRandom(value) && /^[\w-]+$/.test(value));
}

const argument = /(?:^|[\s"'`[(,])-{1,2}$/;
const wordStart = /(?:^|[\s"'`([{,;])$/;

/** Whether what stands before a name makes `name=` an assignment: of a query, a form, an option, the environment. */
function isAssigned(text: string, start: number, name: string, kind: Setting["kind"]): boolean {
  const before = text[start - 1];
  if (before === undefined || "?&#;[".includes(before)) return true;
  if (kind === "query") return false;
  const lead = text.slice(Math.max(0, start - 3), start);
  if (argument.test(lead)) return true;
  return wordStart.test(lead) && (kind === "message" || /^[A-Z][A-Z\d_]{3,}$/.test(name));
}

function afterEquals(text: string, fullName: string, end: number, at: number, setting: Setting): Found[] {
  const name = fullName.replace(/^-+/, "");
  const own = setting.queries.get(name.toLowerCase());
  const known = own === undefined ? ruleOfParameter(name) : { rule: own, doubtful: false };
  if (known === undefined) return [];
  const { kind } = setting;
  if (!isAssigned(text, end - name.length, name, kind)) return [];
  let start = at + 1;
  const quote = text[start];
  let stop: number;
  if (kind !== "query" && (quote === '"' || quote === "'")) {
    start++;
    stop = endOfQuoted(text, start, quote);
  } else stop = endOfParameter(text, start, kind);
  const raw = text.slice(start, stop);
  const secret = decodeQuery(raw);
  if (!isSecretValue(secret) || (known.doubtful && !isDoubtfulCredential(name, secret, text, end))) return [];
  return [{ rule: known.rule, start, end: stop, secret, raw }];
}

const headerNames = /^(?:authorization|proxy-authorization|cookie|set-cookie|x-[a-z-]+|api-key)$/i;
const afterColon = /:[ \t]{0,16}/y; // there is a colon: it is why we are here

/**
 * `Authorization: Bearer …` on a line of its own, and in messages `password: …` after any word. Prose has such lines
 * too ("Unexpected token: identifier"): what stands there must look made by a machine, but for passwords and secrets.
 */
function afterHeaderName(text: string, name: string, rule: string, end: number, kind: Setting["kind"]): Found[] {
  const before = text[end - name.length - 1];
  const header = headerNames.test(name);
  const lineStart = before === undefined || before === "\n" || before === "\r";
  if (kind === "query" || !(kind === "message" || (header && lineStart))) return [];
  const start = endOfMatch(afterColon, text, end);
  const delimiter = header ? /[\r\n"'`]/g : /[\s"'`,;)\]}]/g;
  delimiter.lastIndex = start;
  const stop = delimiter.exec(text)?.index ?? text.length;
  const secret = text.slice(start, stop);
  if (!isSecretValue(secret) || holdsPseudonym(secret)) return [];
  const believed =
    looksRandom(secret.slice(secret.lastIndexOf(" ") + 1)) || (kind === "message" && /^passw|secret/.test(rule));
  return believed || (kind === "message" && header) ? [{ rule, start, end: stop, secret }] : [];
}

/** The value of a field: `<password>…</password>`. */
function inElement(text: string, name: string, rule: string, end: number): Found[] {
  const before = text[end - name.length - 1];
  if (before !== "<" && before !== ":") return [];
  const stop = text.indexOf("<", end);
  if (stop < 0 || text[stop + 1] !== "/") return []; // `<TOKEN>` in prose is no element
  const secret = text.slice(end + 1, stop);
  return isSecretValue(secret.trim()) ? [{ rule, start: end + 1, end: stop, secret }] : [];
}

const partHeaders = /"[^\r\n]{0,512}\r?\n(?:[^\r\n]{1,512}\r?\n){0,8}\r?\n/y;
const inputValue = /["'][^<>]{0,256}?\bvalue=["']/y;

/** The value of a field that has a `name="…"`: a part of a multipart body, an input of a form. */
function inNamedField(text: string, name: string, rule: string, end: number): Found[] {
  const lead = text.slice(Math.max(0, end - name.length - 65), end - name.length - 1);
  if (!lead.endsWith("name=")) return [];
  let start = /form-data;\s*name=$/i.test(lead) ? endOfMatch(partHeaders, text, end) : -1;
  let stop: number;
  if (start >= 0) {
    const boundary = text.indexOf("\n--", start);
    stop = boundary < 0 ? text.length : text[boundary - 1] === "\r" ? boundary - 1 : boundary;
  } else {
    start = endOfMatch(inputValue, text, end);
    if (start < 0) return [];
    stop = endOfQuoted(text, start, text[start - 1]!);
  }
  const secret = text.slice(start, stop);
  return isSecretValue(secret) ? [{ rule, start, end: stop, secret }] : [];
}

const pairValue = /"\s{0,16},\s{0,64}"/y;
const namedValue = /"\s{0,16},\s{0,64}"value"\s{0,16}:\s{0,64}"/y;
const beforePair = /(?:\[|\]\s{0,16},)\s{0,64}\[\s{0,64}$/;
const beforeName = /"name"\s{0,16}:\s{0,64}$/;

/** `[["authorization", "…"], …]` and `{ "name": "authorization", "value": "…" }`: how headers and fields are listed. */
function inPair(text: string, rule: string, keyStart: number, end: number): Found[] {
  const lead = text.slice(Math.max(0, keyStart - 100), keyStart);
  const start = beforePair.test(lead)
    ? endOfMatch(pairValue, text, end)
    : beforeName.test(lead)
      ? endOfMatch(namedValue, text, end)
      : -1;
  if (start < 0) return [];
  const stop = endOfQuoted(text, start, '"');
  const secret = unescapeJson(text.slice(start, stop));
  return isSecretValue(secret) ? [{ rule, start, end: stop, secret }] : [];
}

/** Where a sticky expression ends that is tried at an offset; -1 where it does not match. */
function endOfMatch(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : -1;
}

const afterKey = /["']\s{0,16}:\s{0,64}/y;

/** What stands where a name that ends at `end` says that a credential stands. */
export function findPlace(text: string, end: number, setting: Setting): readonly Found[] {
  let at = end;
  let next = text[end];
  if (next === "]" && text[end + 1] === "=") next = text[++at]; // user[password]=…
  if (next !== '"' && next !== "'" && next !== "=" && next !== ":" && next !== ">") return [];
  const name = nameBefore(text, end);
  if (next === "=") return afterEquals(text, name, end, at, setting);
  const rule = setting.keys.get(name.toLowerCase()) ?? ruleOfName(name);
  if (rule === undefined) return [];
  if (next === ":") return afterHeaderName(text, name, rule, end, setting.kind);
  if (next === ">") return inElement(text, name, rule, end);
  const keyStart = end - name.length - 1;
  if (text[keyStart] !== next) return [];
  const value = endOfMatch(afterKey, text, end);
  if (value >= 0) return findJsonValues(text, value, keyStart, name, rule);
  const found = inPair(text, rule, keyStart, end);
  return found.length > 0 ? found : inNamedField(text, name, rule, end);
}
