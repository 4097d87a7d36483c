import { encodeJson, parseJsonTree } from "../src/wire/json.ts";

/** Why a text that is JSON is not shown as a tree; `undefined` where it is no object or array at all. */
export function whyNoTree(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const tree = parseJsonTree(text);
  if (tree === undefined) return undefined;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? [];
  const compact = encodeJson(tree);
  if (tokens.join("") === compact) return spacing(text);
  const plain = tokens.map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token)).join("");
  if (plain === compact) return `escapes that no style prints (${odd(text)})`;
  return "duplicate keys, or number-like keys that JavaScript puts first";
}

function spacing(text: string): string {
  if (/\r/.test(text)) return "irregular spacing (CRLF line ends)";
  if (/\n\t/.test(text)) return "irregular spacing (tabs)";
  if (/^\s/.test(text)) return "irregular spacing (white space in front)";
  if (/\n[ \n]*\n?$/.test(text) && !/[^\n]\n$/.test(text)) return "irregular spacing (white space at the end)";
  return "irregular spacing";
}

function odd(text: string): string {
  const escapes = text.match(/\\(?:u[0-9A-Fa-f]{4}|.)/g) ?? [];
  return [...new Set(escapes)]
    .filter((it) => !/^\\["\\nrt]$/.test(it))
    .slice(0, 6)
    .join(" ");
}
