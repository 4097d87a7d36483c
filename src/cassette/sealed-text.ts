import { encodeUtf8 } from "../wire/bytes.ts";
import { crc32 } from "../wire/digest.ts";
import { checkShape } from "./check.ts";
import { formatSeal } from "./print.ts";
import type { Seal } from "./schema.ts";

/** A text that is as we printed it. */
export interface SealedText {
  readonly seal: Seal;
  /** The offset of the line of the seal, in UTF-16 units. */
  readonly sealOffset: number;
}

const sealLine = '\n  "seal": ';
const closing = "\n}\n";

/**
 * Whether a text is as we printed it, and may take the fast path: `seal.crc32` is the CRC-32 of the UTF-8 bytes of the
 * text before the line that begins with two spaces and `"seal"`, and from that line on the text is, to the letter, what
 * formatSeal prints, a newline, a closing brace and a newline. `bytes`: those of the text, where they are at hand.
 *
 * A check against accidents: who forges the checksum gets the fast path's reading of his text.
 */
export function readSealedText(text: string, bytes?: Uint8Array): SealedText | undefined {
  const before = text.lastIndexOf(sealLine);
  if (before === -1 || !text.endsWith(closing)) return undefined;
  const sealOffset = before + 1;
  const tail = text.slice(sealOffset);
  const seal = parseSeal(tail);
  if (seal?.crc32 === undefined || `${formatSeal(seal)}${closing}` !== tail) return undefined;
  const covered = bytes?.subarray(0, bytes.length - encodeUtf8(tail).length) ?? text.slice(0, sealOffset);
  return formatCrc32(crc32(covered)) === seal.crc32 ? { seal, sealOffset } : undefined;
}

/** A checksum as it stands in a seal: eight lower-case hexadecimal digits. */
export function formatCrc32(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

/** The whole text, given the canonical text of the cassette without its seal: with the seal and its checksum. */
export function attachSeal(unsealed: string, seal: Seal): string {
  const covered = `${unsealed.slice(0, -closing.length)},\n`;
  return `${covered}${formatSeal({ ...seal, crc32: formatCrc32(crc32(covered)) })}${closing}`;
}

function parseSeal(tail: string): Seal | undefined {
  let seal: unknown;
  try {
    seal = JSON.parse(`{${tail}`).seal;
  } catch {
    return undefined; // edited by hand, or cut off: the careful path says where
  }
  return checkShape({ wiretape: 1, tracks: [], seal }).length === 0 ? (seal as Seal) : undefined;
}
