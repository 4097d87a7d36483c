import { type LintIssue, lintCassette } from "../cassette/lint.ts";
import { badUtf8 } from "../cassette/utf8.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import { printable } from "./printable.ts";
import { count } from "./quantities.ts";
import { HINT, readInput } from "./read-input.ts";
import { sidecarIssues } from "./sidecar-issues.ts";
import type { Terminal } from "./terminal.ts";

export interface LintOptions {
  readonly json?: true | undefined;
}

/** `wiretape lint`: every fault and warning of some files. 1 where there is an error. */
export async function lint(paths: readonly string[], options: LintOptions, terminal: Terminal): Promise<number> {
  const files: { path: string; issues: LintIssue[] }[] = [];
  for (const path of paths) files.push({ path, issues: await issuesOf(path) });
  const all = files.flatMap(({ issues }) => issues);
  const errors = all.filter(({ severity }) => severity === "error").length;
  const warnings = all.length - errors;
  if (options.json) terminal.json({ files, errors, warnings });
  else print(files, errors, warnings, terminal);
  return errors > 0 ? 1 : 0;
}

async function issuesOf(path: string): Promise<LintIssue[]> {
  const bytes = await readInput(path, HINT);
  const text = decodeUtf8(bytes);
  if (text === undefined) return [{ severity: "error", ...badUtf8(bytes) }];
  const issues = lintCassette(text, { path });
  // Files beside a cassette are looked at once it is known what they are.
  return issues.some(({ severity }) => severity === "error")
    ? issues
    : [...issues, ...(await sidecarIssues(text, path))];
}

function print(
  files: readonly { path: string; issues: readonly LintIssue[] }[],
  errors: number,
  warnings: number,
  { color, line }: Terminal,
): void {
  for (const { path, issues } of files)
    for (const issue of issues) {
      const severity = issue.severity === "error" ? color.red("error") : color.yellow("warning");
      const where = issue.path === "" ? "" : `${printable(issue.path)}: `;
      line(`${printable(path)}:${issue.line}:${issue.column} ${severity} ${where}${printable(issue.message)}`);
    }
  if (errors + warnings > 0) line();
  const found = [
    errors > 0 && color.red(count(errors, "error")),
    warnings > 0 && color.yellow(count(warnings, "warning")),
  ];
  line(`${count(files.length, "file")}: ${found.filter(Boolean).join(", ") || color.green("no faults")}`);
}
