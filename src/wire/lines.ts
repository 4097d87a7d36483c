/** The end offsets of the lines of a byte string, each with its newline; the last may have none. */
export function splitLines(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, end + 1)) ends.push(end + 1);
  if (bytes.length > (ends.at(-1) ?? 0)) ends.push(bytes.length);
  return ends;
}
