/**
 * The variables that are kept of a child's environment: they change what a program does or prints, and none holds a secret.
 * Everything else stays out of the cassette.
 */
const KEPT: readonly string[] = [
  "ANTHROPIC_MODEL",
  "CI",
  "CLAUDE_CODE_ENTRYPOINT",
  "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
  "COLUMNS",
  "DEBUG",
  "FORCE_COLOR",
  "LANG",
  "LC_ALL",
  "LINES",
  "LOG_LEVEL",
  "NODE_ENV",
  "NO_COLOR",
  "RUST_LOG",
  "TERM",
  "TZ",
];

/**
 * What a cassette keeps of the environment that a program gives a child: of the names that are kept, those that it sets to
 * another value than it has itself. `undefined`: nothing. It is there to be read, and never compared.
 */
export function keptEnvironment(
  given: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const kept = KEPT.flatMap((name): [string, string][] => {
    const value = given?.[name];
    return value === undefined || value === process.env[name] ? [] : [[name, value]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
