/** What was found of one kind of payload. */
export interface Row {
  payloads: number;
  bytes: number;
  /** Payloads of which every byte and every boundary came back in every chunking. */
  exact: number;
  sse: number;
  line: number;
  json: number;
  plain: number;
  /** Frames that show JSON as a tree, and texts that are JSON and are shown as text. */
  trees: number;
  fallbacks: number;
}

export interface Findings {
  readonly rows: ReadonlyMap<string, Row>;
  readonly fallbacks: readonly (readonly [place: string, why: string])[];
  readonly skipped: readonly (readonly [place: string, why: string])[];
  readonly differences: readonly string[];
}

export function emptyRow(): Row {
  return { payloads: 0, bytes: 0, exact: 0, sse: 0, line: 0, json: 0, plain: 0, trees: 0, fallbacks: 0 };
}

function sum(rows: readonly Row[]): Row {
  const total = emptyRow();
  for (const row of rows) for (const key of Object.keys(total) as (keyof Row)[]) total[key] += row[key];
  return total;
}

/** The sum of what recorded programs printed: whole files were laid out by people or by recorders. */
export function sumOfBodies({ rows }: Findings): Row {
  return sum([...rows].filter(([kind]) => !kind.endsWith(": file")).map(([, row]) => row));
}

export function report(findings: Findings): string {
  const { rows, fallbacks, skipped, differences } = findings;
  const lines = table([
    ["kind", "payloads", "bytes", "exact %", "sse", "line", "json", "plain", "trees", "not", "trees %"],
    ...[...rows].sort().map(([kind, row]) => cells(kind, row)),
    cells("all but files", sumOfBodies(findings)),
    cells("all", sum([...rows.values()])),
  ]);
  lines.push("", `JSON that is no tree: ${fallbacks.length}`);
  for (const [place, why] of fallbacks) lines.push(`  ${place}`, `      ${why}`);
  lines.push("", `Not read: ${skipped.length}`);
  for (const reason of new Set(skipped.map(([, why]) => why))) {
    const places = skipped.filter(([, why]) => why === reason).map(([place]) => place);
    lines.push(`  ${reason}: ${places.length} (${places.slice(0, 3).join(", ")}${places.length > 3 ? ", …" : ""})`);
  }
  lines.push("", `Differences: ${differences.length}`, ...differences.map((difference) => `  ${difference}`));
  return lines.join("\n");
}

function cells(name: string, row: Row): string[] {
  return [
    name,
    String(row.payloads),
    String(row.bytes),
    percent(row.exact, row.payloads),
    ...[row.sse, row.line, row.json, row.plain, row.trees, row.fallbacks].map(String),
    percent(row.trees, row.trees + row.fallbacks),
  ];
}

function percent(part: number, all: number): string {
  return all === 0 ? "–" : ((100 * part) / all).toFixed(2);
}

function table(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  "),
  );
}
