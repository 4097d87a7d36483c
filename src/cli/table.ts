import { columns, shorten } from "./columns.ts";
import { printable } from "./printable.ts";

/** A cell: its text, which may come from a file, and how it is coloured. */
export interface Cell {
  readonly text: string;
  readonly style?: ((text: string) => string) | undefined;
}

export interface Column {
  readonly title: string;
  readonly align?: "right" | undefined;
  /** Is shortened first where the lines are too long. */
  readonly flexible?: true | undefined;
}

export interface TableOptions {
  readonly width: number;
  /** How the titles are coloured. */
  readonly heading: (text: string) => string;
  readonly indent?: string | undefined;
}

const GAP = "  ";
const NARROWEST = 12;

/** Lines of aligned columns, under their titles, at most `width` columns wide as far as flexible columns allow. */
export function formatTable(
  heads: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string[] {
  const { width, heading, indent = "" } = options;
  const texts = rows.map((row) => row.map((cell) => printable(cell.text)));
  const used = heads.map((_, i) => texts.some((row) => row[i] !== ""));
  const shown = [...heads.keys()].filter((i) => used[i]); // a column in which nothing stands is left out
  const widths = heads.map(({ title }, i) =>
    texts.reduce((most, row) => Math.max(most, columns(row[i]!)), title.length),
  );
  let excess = indent.length + shown.reduce((sum, i) => sum + widths[i]! + GAP.length, -GAP.length) - width;
  const flexible = shown.filter((i) => heads[i]!.flexible);
  for (; excess > 0; excess--) {
    const widest = flexible.reduce((a, b) => (widths[b]! > widths[a]! ? b : a), flexible[0] ?? -1);
    if (widest === -1 || widths[widest]! <= NARROWEST) break;
    widths[widest]!--;
  }
  const line = (cells: readonly string[], style: (i: number) => Cell["style"]): string => {
    const parts = shown.map((i) => {
      const text = shorten(cells[i]!, widths[i]!);
      const room = " ".repeat(widths[i]! - columns(text));
      const painted = style(i)?.(text) ?? text;
      return heads[i]!.align === "right" ? room + painted : i === shown.at(-1) ? painted : painted + room;
    });
    return (indent + parts.join(GAP)).trimEnd();
  };
  const titles = line(
    heads.map(({ title }) => title),
    () => heading,
  );
  return [titles, ...rows.map((row, r) => line(texts[r]!, (i) => row[i]!.style))];
}
