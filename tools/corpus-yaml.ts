/**
 * The text scalars of a YAML file under given keys: what recordings keep bodies in. Not a YAML parser: it knows plain,
 * quoted and block scalars behind `key:` and reports what else it meets, so that nothing is passed over in silence.
 */

export interface YamlScalar {
  readonly key: string;
  readonly text: string;
  /** `!!binary`: the text is base64. */
  readonly binary: boolean;
}

export function yamlScalars(yaml: string, keys: readonly string[]): { scalars: YamlScalar[]; unread: number } {
  const lines = yaml.split("\n");
  const head = new RegExp(`^( *)((?:- )*)(${keys.join("|")}):(?: +(.*))?$`);
  const scalars: YamlScalar[] = [];
  let unread = 0;
  for (let i = 0; i < lines.length; i++) {
    const found = head.exec(lines[i]!);
    if (found === null) continue;
    const margin = found[1]!.length + found[2]!.length;
    const value = (found[4] ?? "").trim();
    const binary = /^!!?binary\b/.test(value);
    const rest = value.replace(/^!\S+\s*/, "");
    if (rest === "" || rest === "null" || rest.startsWith("{") || rest.startsWith("[") || rest.startsWith("#"))
      continue;
    const block: string[] = [];
    for (let k = i + 1; k < lines.length && (/^\s*$/.test(lines[k]!) || indentOf(lines[k]!) > margin); k++)
      block.push(lines[k]!);
    const text = /^[|>]/.test(rest) ? blockScalar(rest, block) : quotedScalar(rest, block);
    if (text === undefined) unread++;
    else scalars.push({ key: found[3]!, text, binary });
    i += /^[|>"']/.test(rest) ? block.length : 0;
  }
  return { scalars, unread };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

function blockScalar(header: string, block: readonly string[]): string | undefined {
  const [, kind, indicators] = /^([|>])([-+0-9]*)$/.exec(header.trim()) ?? [];
  if (kind !== "|" || indicators === undefined) return undefined;
  const first = block.find((line) => line.trim() !== "");
  if (first === undefined || /\d/.test(indicators)) return undefined;
  const margin = indentOf(first);
  const text = `${block.map((line) => line.slice(margin)).join("\n")}\n`;
  if (indicators.includes("+")) return text;
  const stripped = text.replace(/\n+$/, "");
  return indicators.includes("-") ? stripped : `${stripped}\n`;
}

function quotedScalar(first: string, block: readonly string[]): string | undefined {
  const quote = first[0];
  if (quote !== '"' && quote !== "'") return block.some((line) => line.trim() !== "") ? undefined : first;
  // A folded line break is a space, one before an empty line a newline; `\` at a line's end joins without a space.
  let folded = first;
  let empty = 0;
  for (const line of [...block, quote]) {
    if (closes(folded, quote)) break;
    const part = line.trim();
    if (part === "") empty++;
    else {
      const joined = quote === '"' && /(?:^|[^\\])(?:\\\\)*\\$/.test(folded);
      folded = joined ? folded.slice(0, -1) + part : folded + (empty > 0 ? "\n".repeat(empty) : " ") + part;
      empty = 0;
    }
  }
  const inner = folded.slice(1, -1);
  if (!closes(folded, quote)) return undefined;
  return quote === "'" ? inner.replaceAll("''", "'") : unescapeYaml(inner);
}

function closes(text: string, quote: string): boolean {
  const body = text.slice(1);
  return quote === "'" ? /^(?:[^']|'')*'$/.test(body) : /^(?:[^"\\]|\\[\s\S])*"$/.test(body);
}

const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

function unescapeYaml(text: string): string {
  return text.replace(/\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[\s\S])/g, (_, code: string) =>
    code.length > 1 ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );
}
