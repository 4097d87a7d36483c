import { closest, distance } from "fastest-levenshtein";

/** `; did you mean "x"?` for the nearest of the known words, or the list of them where none is near. */
export function suggest(word: string, known: readonly string[], what: string): string {
  if (known.length === 0) return "";
  // Distance to a thousand ids of a kilobyte each would take longer than reading the file.
  const nearest = closest(word.slice(0, 100), known);
  if (distance(word.slice(0, 100), nearest) <= Math.floor(nearest.length / 2))
    return `; did you mean ${JSON.stringify(nearest)}?`;
  const shown = known.slice(0, 20).join(", ");
  return `; ${what}: ${shown}${known.length > 20 ? `, and ${known.length - 20} more` : ""}`;
}
