/**
 * Which names say that their value is a credential: headers, keys of JSON, fields of forms, query parameters. A name
 * says it by its end: `client_secret` and `x-auth-token` do, `max_tokens`, `token_count` and `secret_id` do not.
 */

/** Names that are rules of their own, without separators, and the rule they belong to. */
const exact: ReadonlyMap<string, string> = new Map<string, string>(
  [
    "authorization",
    "proxy-authorization",
    "api-key",
    "x-api-key",
    "x-goog-api-key",
    "x-auth-token",
    "x-csrf-token",
    "x-xsrf-token",
    "x-amz-security-token",
    "access-token",
    "refresh-token",
    "id-token",
    "session-token",
    "auth-token",
    "csrf-token",
    "client-secret",
    "secret-access-key",
    "rapidapi-key",
    "private-token",
    "credential",
    "credentials",
    "cookie",
    "pwd",
    "passcode",
  ].map((rule) => [rule.replaceAll("-", ""), rule]),
).set("setcookie", "cookie");

/** What a longer name may end in: `staging-password`, `STRIPE_SECRET_KEY`, `githubToken`. The first that fits. */
const families = [
  "authorization",
  "password",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "api-key",
  "private-key",
  "secret-key",
  "access-key",
  "signing-key",
  "encryption-key",
  "master-key",
  "account-key",
  "subscription-key",
  "functions-key",
  "auth-key",
];

/** Families that are told even where nothing separates the words: `userpassword`, `accesstoken`, `stripeapikey`. */
const squashed =
  /(password|passwd|passphrase|apikey|(?:access|auth|refresh|session|csrf|xsrf|bearer|api)token|clientsecret|secretkey|privatekey)$/;

/** `…_token` that is a place in a list or a unit of text: `next_page_token`, `eos_token`, `prompt_token`. */
const harmlessTokens =
  /(?:^|-)(?:page|next|prev|previous|continuation|cursor|sync|pagination|resume|scroll|skip|start|end|begin|bos|eos|eot|pad|unk|sep|cls|mask|stop|first|last|per|input|output|max|min|special|progress|cancel|cancellation|think|prompt|completion|reasoning|cached|text|image|audio|total|request-id|client-request|idempotency|lexer|next-forward|next-backward)-?token$/;

/** Query parameters that no other place has: what signs a URL. */
const signatures: ReadonlyMap<string, string> = new Map([
  ["sig", "signature"],
  ["signature", "signature"],
  ["xamzsignature", "signature"],
  ["xgoogsignature", "signature"],
  ["xamzcredential", "signature"],
  ["xgoogcredential", "signature"],
]);

/** Query parameters that are credentials only where something beside them says so (see places.ts). */
const doubtful: ReadonlyMap<string, string> = new Map([
  ["key", "key"],
  ["code", "code"],
]);

/** The ends of all those names: what a text is searched for. */
export const nameEndings: readonly string[] = [
  ...["authorization", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential"],
  ...["credentials", "cookie", "sig", "signature", "code", "confirmation", "confirm"],
];

/** The rules of this file by name. */
export const nameRules: readonly string[] = [
  ...new Set([...exact.values(), ...families, ...signatures.values(), ...doubtful.values()]),
];

function dashed(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/[^A-Za-z\d]+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
}

function classify(name: string): string | undefined {
  const words = dashed(name).replace(/(password)-?(?:confirmation|confirm|\d+)$/, "$1");
  const squash = words.replaceAll("-", "");
  const rule = exact.get(squash);
  if (rule !== undefined) return rule;
  if (harmlessTokens.test(words)) return undefined;
  const family = families.find((end) => words === end || words.endsWith(`-${end}`));
  if (family !== undefined) return family;
  const end = squashed.exec(squash)?.[1];
  if (end === undefined) return undefined;
  if (end.endsWith("token")) return "token";
  return (
    { apikey: "api-key", secretkey: "secret-key", privatekey: "private-key", clientsecret: "client-secret" }[end] ?? end
  );
}

const longestName = 100;
const cacheSize = 5000;
const cache = new Map<string, string | undefined>();

/** The rule of a header, a key or a field of this name; `undefined` where its value is no credential. */
export function ruleOfName(name: string): string | undefined {
  if (name.length > longestName) return undefined;
  const known = cache.get(name);
  if (known !== undefined || cache.has(name)) return known;
  if (cache.size >= cacheSize) cache.clear(); // names come from outside; the memory for them has a bound
  const rule = classify(name);
  cache.set(name, rule);
  return rule;
}

/** As `ruleOfName`, for a query parameter. `doubtful`: only where what stands beside it says so. */
export function ruleOfParameter(name: string): { readonly rule: string; readonly doubtful: boolean } | undefined {
  const rule = ruleOfName(name);
  if (rule !== undefined) return { rule, doubtful: false };
  if (name.length > longestName) return undefined;
  const squash = name.toLowerCase().replace(/[^a-z\d]+/g, "");
  const signature = signatures.get(squash);
  if (signature !== undefined) return { rule: signature, doubtful: false };
  const perhaps = doubtful.get(squash);
  return perhaps === undefined ? undefined : { rule: perhaps, doubtful: true };
}
