import { isSearchable, looksRandom, shortestSearched } from "./values.ts";

const secretWords = new Set([
  "KEY",
  "APIKEY",
  "TOKEN",
  "SECRET",
  "PASSWORD",
  "PASSWD",
  "PASSPHRASE",
  "CREDENTIAL",
  "CREDENTIALS",
  "AUTH",
  "PAT",
  "JWT",
]);
/** A name that ends so says itself that its value is secret, whatever it looks like. */
const surely = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY)$/;
/** … and one that ends so does not hold the secret but something about it. */
const about =
  /_(?:ID|TYPE|MODE|NAME|URL|URI|HOST|PORT|FILE|PATH|DIR|SOCK|SOCKET|USER|USERNAME|HELPER|STRATEGY|PROVIDER|METHOD|ENABLED|TTL|EXPIRY|EXPIRES|ALGORITHM|LENGTH|SIZE|COUNT|LIMIT|REGION|VERSION|ISSUER|AUDIENCE|DOMAIN|SCOPES?|PREFIX|HEADER|FORMAT|PROGRAM|ASKPASS)$/;
const machinery = /^(?:npm_|xdg_|ssh_auth_sock$|ssh_agent|gpg_|dbus_|lc_|node_|vitest|__)/i;

const path = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/]|file:)/;

/** Whether a variable of this name and value is a secret. */
export function isSecretVariable(name: string, value: string): boolean {
  if (machinery.test(name) || about.test(name.toUpperCase())) return false;
  if (
    !name
      .toUpperCase()
      .split(/[^A-Z]+/)
      .some((word) => secretWords.has(word))
  )
    return false;
  if (value.length < shortestSearched || path.test(value) || !isSearchable(value)) return false;
  if (/^[a-z][a-z\d+.-]*:\/\/[^@\s]*$/i.test(value)) return false; // an address without credentials
  return surely.test(name.toUpperCase()) || looksRandom(value) || value.length >= 20;
}

/** The values of the environment that are secret: those of variables whose names say so, and passwords in addresses. */
export function secretsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (typeof value !== "string") continue; // a program may give a child anything
    const trimmed = value.trim();
    if (isSecretVariable(name, trimmed)) secrets.add(trimmed);
    const password = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#:@]*:([^\s/?#]+)@/i.exec(trimmed)?.[1];
    if (password !== undefined && isSearchable(password)) secrets.add(password);
  }
  return [...secrets];
}
