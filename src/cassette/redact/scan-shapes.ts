import { decodeBase64, decodeUtf8 } from "../../wire/bytes.ts";

/** A finding as an offset, before it is told as line and column. */
export interface RawFinding {
  readonly rule: string;
  readonly offset: number;
}

/** A known token: a text that it cannot be without, which is cheap to look for, then an expression. */
interface TokenShape {
  readonly rule: string;
  readonly hint: string;
  /** Sticky where it begins with the hint: tried there alone. An expression that is tried at every character costs far more. */
  readonly expression: RegExp;
  readonly check?: (token: string) => boolean;
}

// Printed JSON: a token may follow an escape, whose letter is no part of a word.
const start = "(?<![A-Za-z0-9]|[A-Za-z0-9][_-])|(?<=\\\\[nrtbf])";

function token(rule: string, hint: string, body: string, check?: (token: string) => boolean): TokenShape {
  const flags = body.replaceAll("\\", "").startsWith(hint) ? "gy" : "g";
  return {
    rule,
    hint,
    expression: new RegExp(`(?:${start})${body}`, flags),
    ...(check === undefined ? {} : { check }),
  };
}

const mixed = (text: string): boolean => /\d/.test(text);

function isSignedToken(text: string): boolean {
  const [head = ""] = text.split(".");
  const standard = head.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = decodeBase64(standard + "===".slice(0, (4 - (standard.length % 4)) % 4));
  const header = bytes && decodeUtf8(bytes);
  if (header === undefined) return false;
  try {
    return typeof (JSON.parse(header) as { alg?: unknown }).alg === "string";
  } catch {
    return false; // three parts with dots, and the first is no JSON: not a token of this kind
  }
}

const tokens: readonly TokenShape[] = [
  token("anthropic-key", "sk-ant-", "sk-ant-[\\w-]{20,200}"),
  token("openai-key", "sk-proj-", "sk-proj-[\\w-]{20,200}", mixed),
  token("openai-key", "sk-svcacct-", "sk-svcacct-[\\w-]{20,200}", mixed),
  token("openai-key", "sk-", "sk-[A-Za-z0-9]{32,200}(?![A-Za-z0-9])", mixed),
  ...["ghp", "gho", "ghu", "ghs", "ghr"].map((kind) =>
    token("github-token", `${kind}_`, `${kind}_[A-Za-z0-9]{30,255}(?![A-Za-z0-9])`),
  ),
  token("github-token", "github_pat_", "github_pat_[A-Za-z0-9_]{30,255}"),
  token("gitlab-token", "glpat-", "glpat-[\\w-]{20,200}"),
  token("slack-token", "xox", "xox[abeprs]-[A-Za-z0-9-]{12,200}", mixed),
  token("aws-access-key", "AKIA", "AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
  token("aws-access-key", "ASIA", "ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
  token("google-api-key", "AIza", "AIza[\\w-]{35}"),
  token("google-client-secret", "GOCSPX-", "GOCSPX-[\\w-]{20,64}"),
  token("stripe-key", "_live_", "[rs]k_live_[A-Za-z0-9]{16,200}"),
  token("npm-token", "npm_", "npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
  token("hugging-face-token", "hf_", "hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])"),
  token("sendgrid-key", "SG.", "SG\\.[\\w-]{20,24}\\.[\\w-]{40,46}"),
  token("twilio-key", "SK", "SK[0-9a-f]{32}(?![A-Za-z0-9])"),
  token("shopify-token", "shp", "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
  token("jwt", "eyJ", "eyJ[\\w-]{10,4000}\\.[\\w-]{10,20000}\\.[\\w-]{10,4000}", isSignedToken),
  {
    rule: "pem",
    hint: "PRIVATE KEY-----",
    expression: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:\\+[nr]|\s){1,8}[A-Za-z0-9+/]{16}/g,
  },
  {
    rule: "url-password",
    hint: "://",
    expression: /:\/\/[^\s/?#"'<>\\`:@]{0,200}:([^\s/?#"'<>\\`@]{1,200})@[A-Za-z0-9[]/gy,
    check: (password) => !/^(?:REDACTED-[a-z0-9-]+|\*+|\$\{.*|\{\{.*|%s)$/.test(password),
  },
];

/** Where known tokens, JSON Web Tokens, private keys and passwords in addresses stand in a text. */
export function tokenShapes(text: string): RawFinding[] {
  const found: RawFinding[] = [];
  for (const { rule, hint, expression, check } of tokens) {
    if (!text.includes(hint)) continue;
    for (const match of expression.sticky ? matchesAt(text, hint, expression) : text.matchAll(expression)) {
      const seen = match[1] ?? match[0];
      if (check === undefined || check(seen)) found.push({ rule, offset: match.index });
    }
  }
  return found;
}

function* matchesAt(text: string, hint: string, expression: RegExp): Generator<RegExpExecArray> {
  for (let at = text.indexOf(hint); at >= 0; ) {
    expression.lastIndex = at;
    const match = expression.exec(text);
    if (match !== null) yield match;
    at = text.indexOf(hint, match === null ? at + 1 : at + match[0].length);
  }
}
