import { decodeUtf8 } from "../wire/bytes.ts";
import type { Issue } from "./invalid.ts";

/** The first place at which bytes are not UTF-8: its line, the column in its line, and its offset in the file. */
export function badUtf8(bytes: Uint8Array): Issue {
  let start = 0;
  for (let line = 1; ; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    if (newline === -1 || decodeUtf8(bytes.subarray(start, end)) === undefined) {
      const offset = start + validPrefix(bytes.subarray(start, end));
      const before = decodeUtf8(bytes.subarray(start, offset)) ?? "";
      const byte = bytes[offset]?.toString(16).padStart(2, "0") ?? "";
      const message = `byte 0x${byte} at offset ${offset} is not UTF-8; a cassette is a UTF-8 text`;
      return { line, column: [...before].length + 1, path: "", message };
    }
    start = newline + 1;
  }
}

/** How many bytes at the start are whole, valid characters. */
function validPrefix(bytes: Uint8Array): number {
  let valid = 0;
  let broken = bytes.length + 1;
  while (broken - valid > 1) {
    const middle = (valid + broken) >> 1;
    // A character that is cut off at the end is no fault yet: the decoder waits for the rest.
    if (startsValid(bytes.subarray(0, middle))) valid = middle;
    else broken = middle;
  }
  while (valid > 0 && decodeUtf8(bytes.subarray(0, valid)) === undefined) valid--;
  return valid;
}

function startsValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false; // the only way in which a fatal decoder fails
  }
}
