import { CassetteInvalid } from "../errors.ts";

/** A fault of a file, with its place. `line` and `column` are 0 where the cassette is a value and not a text. */
export interface Issue {
  readonly line: number;
  readonly column: number;
  /** As people read it: `tracks[0].request.url`; `""` for the whole file. */
  readonly path: string;
  readonly message: string;
}

const shown = 50;

/** The error for a cassette with faults: the text lists the first 50, `details.issues` all of them, in file order. */
export function cassetteInvalid(file: string | undefined, issues: readonly Issue[]): CassetteInvalid {
  const name = file ?? "cassette";
  const sorted = [...issues].sort((a, b) => a.line - b.line || a.column - b.column);
  const count = sorted.length === 1 ? "1 fault" : `${sorted.length} faults`;
  const lines = sorted.slice(0, shown).map((issue) => `  ${formatIssue(name, issue)}`);
  if (sorted.length > shown) lines.push(`  … and ${sorted.length - shown} more`);
  return new CassetteInvalid(`${name} is not a valid cassette (${count}):\n${lines.join("\n")}`, {
    ...(file !== undefined && { path: file }),
    issues: sorted,
  });
}

/** `file:line:column  place: sentence`, which editors and terminals turn into a link. */
export function formatIssue(file: string, { line, column, path, message }: Issue): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return `${place}  ${path === "" ? "" : `${path}: `}${message}`;
}
