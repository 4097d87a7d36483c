import type { RawFinding } from "./scan-shapes.ts";

/**
 * Credentials by the name that stands before them, as a cassette prints them: pairs in a list of headers, cookies,
 * keys of trees and of JSON within strings, parameters of URLs. Only names that leave no doubt.
 */

/** Names by rule, as an expression; a separator is "-", "_" or none. */
const names: readonly (readonly [rule: string, expression: string])[] = [
  ["proxy-authorization", "proxy-authorization"],
  ["authorization", "authorization"],
  ["x-api-key", "x-api-key"],
  ["x-goog-api-key", "x-goog-api-key"],
  ["api-key", "api[-_]?key"],
  ["x-auth-token", "x-auth-token"],
  ["x-csrf-token", "x-csrf-token"],
  ["x-amz-security-token", "x-amz-security-token"],
  ["private-token", "private-token"],
  ["access-token", "access[-_]?token"],
  ["refresh-token", "refresh[-_]?token"],
  ["id-token", "id[-_]token"],
  ["session-token", "session[-_]?token"],
  ["auth-token", "auth[-_]?token"],
  ["client-secret", "client[-_]?secret"],
  ["secret-access-key", "secret[-_]?access[-_]?key"],
  ["private-key", "private[-_]?key"],
  ["password", "password"],
  ["passwd", "passwd"],
];

const signatures: typeof names = [["signature", "x-amz-signature|x-goog-signature"]];

const alternatives = (list: typeof names): string => list.map(([, expression]) => `(${expression})`).join("|");

const headers = /"(?:headers|trailers)": ?\[/g;
const pair = /\s*\[\s*"([^"\\]{1,200})"\s*,\s*"((?:[^"\\]|\\.)*)"\s*\]\s*,?/y;
const headerName = new RegExp(`^(?:${alternatives(names)})$`, "i");
const key = new RegExp(
  `"(?:${alternatives(names)})(?<escape>\\\\{0,15})"\\s{0,8}:\\s{0,8}\\k<escape>"([^"\\\\]{0,4096})`,
  "gi",
);
const parameter = new RegExp(`[?&](?:${alternatives([...names, ...signatures])})=([^&#"'\\\\\\s<>)\\]};\`]*)`, "gi");

const harmless =
  /^(?:\s*|REDACTED-[a-z\d-]+|[A-Za-z]+ REDACTED-[a-z\d-]+|\*+|•+|true|false|null|none|nil|undefined|required|optional|string|bearer|basic|\$\{.*|\{\{.*|<.*|%s)$/i;

function ruleOfGroups(list: typeof names, groups: readonly (string | undefined)[]): string {
  return list[groups.findIndex((group) => group !== undefined)]![0];
}

function cookiePairs(name: string, value: string): readonly string[] {
  const pairs = name === "set-cookie" ? value.split(";", 1) : value.split(";");
  return pairs.map((each) =>
    each
      .slice(each.indexOf("=") + 1)
      .trim()
      .replace(/^(?:\\?")(.*?)(?:\\?")$/, "$1"),
  );
}

function inHeaders(text: string): RawFinding[] {
  const found: RawFinding[] = [];
  for (const list of text.matchAll(headers)) {
    pair.lastIndex = list.index + list[0].length;
    for (let at = pair.lastIndex; ; at = pair.lastIndex) {
      const match = pair.exec(text);
      if (match === null) break;
      const [, name = "", value = ""] = match;
      const offset = text.indexOf("[", at);
      const lower = name.toLowerCase();
      const open = (part: string): boolean => !harmless.test(part);
      if (lower === "cookie" || lower === "set-cookie") {
        if (cookiePairs(lower, value).some(open)) found.push({ rule: "cookie", offset });
        continue;
      }
      const groups = headerName.exec(name);
      if (groups !== null && open(value)) found.push({ rule: ruleOfGroups(names, groups.slice(1)), offset });
    }
  }
  return found;
}

function matches(text: string, expression: RegExp, list: typeof names): RawFinding[] {
  const found: RawFinding[] = [];
  for (const match of text.matchAll(expression)) {
    if (harmless.test(match.at(-1) ?? "")) continue;
    // The quotes of a key are escaped alike: as often as JSON lies within JSON.
    const quoting = match.groups?.escape ?? "";
    if (!text.endsWith(quoting, match.index)) continue;
    found.push({ rule: ruleOfGroups(list, match.slice(1)), offset: match.index });
  }
  return found;
}

/** Where the value of a credential stands that is no pseudonym. */
export function credentialValues(text: string): RawFinding[] {
  return [...inHeaders(text), ...matches(text, key, names), ...matches(text, parameter, [...names, ...signatures])];
}
