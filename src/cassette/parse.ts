import { readCarefully } from "./careful.ts";
import { checkShape } from "./check.ts";
import { deepFreeze, nestsDeeper } from "./freeze.ts";
import { cassetteInvalid } from "./invalid.ts";
import { type Limits, limitsOf, type ReadOptions } from "./limits.ts";
import type { Cassette } from "./schema.ts";
import { readSealedText } from "./sealed-text.ts";
import { markSound } from "./sound.ts";

/**
 * The cassette of a text, deeply frozen.
 *
 * Where the text is as we printed it (its seal's checksum agrees, see readSealedText) it is parsed by the platform and
 * only its shape is checked. Any other text is read carefully: comments and trailing commas are accepted, duplicate keys
 * are faults, numbers in payloads are kept as they are written. For what we printed both give the same cassette.
 *
 * CassetteInvalid names every fault of the text at once, each with line and column: `details.issues`.
 */
export function parseCassette(text: string, options: ReadOptions = {}): Cassette {
  const limits = limitsOf(options);
  const cassette = parseSealed(text, limits);
  if (cassette !== undefined) return markSound(cassette);
  const reading = readCarefully(text, limits);
  if (reading.cassette === undefined) throw cassetteInvalid(options.path, reading.issues);
  return markSound(reading.cassette);
}

function parseSealed(text: string, limits: Limits): Cassette | undefined {
  if (text.length > limits.size || readSealedText(text) === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // the checksum was forged; the careful path says what is wrong
  }
  if (nestsDeeper(value, limits.depth) || checkShape(value).length > 0) return undefined;
  const cassette = value as Cassette;
  return cassette.tracks.length > limits.tracks ? undefined : deepFreeze(cassette);
}
