/** Where something is in a cassette: keys and indices from the top. */
export type Path = readonly (string | number)[];

/** What is wrong with a cassette, before it is known on which line. */
export interface Fault {
  readonly path: Path;
  /** A sentence that says what would be right. */
  readonly message: string;
  /** The fault is the last key of the path, not its value. */
  readonly atKey?: true;
  /** Something is absent: told only where the text around it is whole. */
  readonly missing?: true;
}

/** A path as people read it: `tracks[0].response.headers[2]`; `""` for the whole file. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** A value as it is quoted in a sentence: short, and never more of it than helps to find it. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  const clipped = text.length > 40 ? `${text.slice(0, 36)}…"` : text;
  return typeof value === "string" ? `the text ${clipped}` : clipped;
}
