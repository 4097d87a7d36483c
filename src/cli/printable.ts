import { printableLines } from "../errors.ts";

export { printable, printableLines } from "../errors.ts";

/** JSON text that may be shown on a terminal: JSON escapes of itself only the first half of what is unsafe. */
export function printableJson(json: string): string {
  return printableLines(json); // its line breaks are its layout: those of its texts are escaped
}
