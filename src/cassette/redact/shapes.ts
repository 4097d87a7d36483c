import { textOfBase64 } from "./base64.ts";
import { looksRandom } from "./values.ts";

/**
 * Secrets that are known by their looks. Each has a beginning that is searched for, and is tried there and nowhere
 * else, so that a long text costs one pass whatever the number of shapes. The patterns have no nested repetition and
 * every repetition has a bound: a hostile text costs time in proportion to its length.
 */
export interface Shape {
  readonly rule: string;
  /** What it begins with, in any case: what follows is strict. */
  readonly beginnings: readonly string[];
  /** Where the secret lies that begins (or is announced) at this offset. */
  find(text: string, start: number): readonly [start: number, end: number] | undefined;
}

const wordCharacter = /[A-Za-z\d]/;
const nameCharacter = /[\w-]/;

/** `pattern`: group 1, where there is one, is the secret. A shape is not found within a word: `disk-…` has no `sk-`. */
function shape(
  rule: string,
  beginnings: readonly string[],
  source: string,
  check?: (secret: string) => boolean,
): Shape {
  const pattern = new RegExp(source, "y");
  // Where the body of a token may hold hyphens, one before it makes it a part of something longer.
  const boundary = source.includes("\\w-]") ? nameCharacter : wordCharacter;
  return {
    rule,
    beginnings,
    find(text, start) {
      if (start > 0 && boundary.test(text[start - 1]!)) return undefined;
      pattern.lastIndex = start;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      const secret = match[1] ?? match[0];
      if (check !== undefined && !check(secret)) return undefined;
      const end = start + match[0].length;
      return [end - secret.length, end];
    },
  };
}

const hasDigit = (text: string): boolean => /\d/.test(text);

function isJwt(text: string): boolean {
  const header = textOfBase64(text.slice(0, text.indexOf(".")));
  return header?.trim().startsWith("{") === true && /"alg"\s*:/.test(header);
}

function isBasic(text: string): boolean {
  const pair = textOfBase64(text);
  return pair !== undefined && /^[^\x00-\x1f\x7f:]*:[^\x00-\x1f\x7f]*$/.test(pair);
}

const pemBegin = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const pemEnd = /-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const pemInside = /[A-Za-z\d+/=\\\s]{0,65536}/y;
const longestPem = 65_536;

const pem: Shape = {
  rule: "pem",
  beginnings: ["-----BEGIN "],
  find(text, start) {
    pemBegin.lastIndex = start;
    if (!pemBegin.test(text)) return undefined;
    const inside = pemBegin.lastIndex;
    const end = text.indexOf("-----", inside);
    pemEnd.lastIndex = end;
    if (end >= 0 && end - inside <= longestPem && pemEnd.test(text)) return [start, pemEnd.lastIndex];
    // A block that was cut off has no last line; what there is of it goes all the same.
    pemInside.lastIndex = inside;
    return pemInside.test(text) && pemInside.lastIndex > inside + 16 ? [start, pemInside.lastIndex] : undefined;
  },
};

/** What may not follow, so that a longer word of the same letters is not half a token. */
const edge = "(?![A-Za-z\\d])";

export const shapes: readonly Shape[] = [
  shape("anthropic-key", ["sk-ant-"], "sk-ant-[\\w-]{16,512}"),
  shape("openai-key", ["sk-"], "sk-(?:proj|svcacct|admin|service|or|lf|None)-[\\w-]{16,512}", hasDigit),
  shape("openai-key", ["sk-"], `sk-[A-Za-z\\d]{20,512}${edge}`, hasDigit),
  shape("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], `gh[opusr]_[A-Za-z\\d]{20,512}${edge}`),
  shape("github-token", ["github_pat_"], "github_pat_\\w{20,512}"),
  shape("gitlab-token", ["glpat-", "gldt-", "glrt-"], "gl(?:pat|dt|rt)-[\\w-]{20,512}"),
  shape(
    "slack-token",
    ["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"],
    "xox[a-eprs]-[\\w-]{10,512}",
    hasDigit,
  ),
  shape("slack-token", ["xapp-"], "xapp-\\d-[\\w-]{10,512}"),
  shape("slack-webhook", ["hooks.slack.com/"], "hooks\\.slack\\.com/(?:services|workflows|triggers)/([\\w/-]{20,256})"),
  shape("aws-access-key", ["AKIA", "ASIA"], `A[KS]IA[A-Z\\d]{16}${edge}`),
  shape("google-api-key", ["AIza"], "AIza[\\w-]{30,128}"),
  shape("google-oauth-token", ["ya29."], "ya29\\.[\\w-]{20,2048}"),
  shape("google-client-secret", ["GOCSPX-"], "GOCSPX-[\\w-]{20,128}"),
  shape(
    "stripe-key",
    ["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
    `[rs]k_(?:live|test)_[A-Za-z\\d]{10,256}${edge}`,
  ),
  shape("stripe-webhook-secret", ["whsec_"], "whsec_[\\w+/=]{20,256}"),
  shape("npm-token", ["npm_"], `npm_[A-Za-z\\d]{36}${edge}`),
  shape("hugging-face-token", ["hf_"], `hf_[A-Za-z\\d]{30,128}${edge}`),
  shape("sendgrid-key", ["SG."], "SG\\.[\\w-]{16,128}\\.[\\w-]{16,128}"),
  shape(
    "twilio-key",
    [..."0123456789abcdef"].map((digit) => `SK${digit}`),
    `SK[\\da-f]{32}${edge}`,
  ),
  shape("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], `shp(?:at|ca|pa|ss)_[\\da-fA-F]{32}${edge}`),
  shape("digitalocean-token", ["dop_v1_", "doo_v1_"], `do[op]_v1_[\\da-f]{64}${edge}`),
  shape("groq-key", ["gsk_"], `gsk_[A-Za-z\\d]{40,128}${edge}`),
  shape("xai-key", ["xai-"], `xai-[A-Za-z\\d]{40,128}${edge}`),
  shape("replicate-token", ["r8_"], `r8_[A-Za-z\\d]{30,128}${edge}`),
  shape("linear-key", ["lin_api_"], `lin_api_[A-Za-z\\d]{30,128}${edge}`),
  shape("pypi-token", ["pypi-AgE"], "pypi-AgE[\\w-]{40,512}"),
  shape("supabase-key", ["sb_secret_"], "sb_secret_[\\w-]{20,128}"),
  shape(
    "jwt",
    ["eyJ"],
    "eyJ[\\w-]{8,8192}\\.[\\w-]{8,65536}\\.[\\w-]{0,8192}(?:\\.[\\w-]{1,65536}\\.[\\w-]{1,8192})?",
    isJwt,
  ),
  pem,
  shape("bearer", ["bearer "], "[Bb][Ee][Aa][Rr][Ee][Rr] {1,4}([\\w.~+/-]{16,8192}={0,2})", looksRandom),
  shape("basic", ["basic "], "[Bb][Aa][Ss][Ii][Cc] {1,4}([A-Za-z\\d+/]{8,2048}={0,2})", isBasic),
];
