// What a terminal may act on, or show as something else than it is: control characters (C0, DEL, C1), the line and
// paragraph separators, the marks that reorder text, byte order marks, and halves of surrogate pairs.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text from a file as it may be shown on one line of a terminal: what is not a plain character is escaped. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (unit) => SHORT[unit] ?? escapeUnit(unit));
}

/** As `printable`, with its line breaks: for messages. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** JSON text that may be shown on a terminal: JSON escapes of itself only the first half of what is unsafe. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE, (unit) => (unit === "\n" ? unit : escapeUnit(unit)));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
