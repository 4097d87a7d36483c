import type { Found } from "./found.ts";
import { ruleOfName } from "./names.ts";
import type { Rules } from "./rules.ts";
import { isSecretValue, looksRandom } from "./values.ts";
import { decodePercent } from "./views.ts";

// What browsers and frameworks call the cookies that a session hangs on. Others (theme, language) are replaced in
// their place, and their values looked for elsewhere only where they look made by a machine.
const sessionCookie = /sess|sid|token|auth|jwt|csrf|xsrf|login|secret|[-_]id$/i;

function cookieValues(header: string, value: string, rules: Rules): Found[] {
  const found: Found[] = [];
  const pairs = header === "set-cookie" ? value.split(";", 1) : value.split(";");
  let offset = 0;
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const name = pair.slice(0, Math.max(equals, 0)).trim();
    const raw = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    const start = offset + pair.indexOf(raw, equals + 1);
    offset += pair.length + 1;
    const rule = rules.cookies.get(name.toLowerCase()) ?? "cookie";
    const secret = decodePercent(raw);
    if (rules.waived.has(rule) || !isSecretValue(secret)) continue;
    found.push({
      rule,
      start,
      end: start + raw.length,
      secret,
      raw,
      inPlaceOnly: !sessionCookie.test(name) && !looksRandom(secret),
    });
  }
  return found;
}

/** The rule of a header that is a credential as a whole. */
function ruleOfHeader(name: string, rules: Rules): string | undefined {
  const rule = (rules.headers.size > 0 ? rules.headers.get(name.toLowerCase()) : undefined) ?? ruleOfName(name);
  return rule === undefined || rules.waived.has(rule) ? undefined : rule;
}

/** What is a credential in a header because of its name. Values are Latin-1, one code point a byte. */
export function findInHeader(name: string, value: string, rules: Rules): readonly Found[] {
  const rule = ruleOfHeader(name, rules);
  const lower = name.length === 6 || name.length === 10 ? name.toLowerCase() : "";
  if ((lower === "cookie" || lower === "set-cookie") && !rules.headers.has(lower))
    return cookieValues(lower, value, rules);
  const secret = value.trim();
  if (rule === undefined || !isSecretValue(secret)) return [];
  const start = value.indexOf(secret);
  return [{ rule, start, end: start + secret.length, secret }];
}
