import { concatBytes } from "../wire/bytes.ts";

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines, each with its newline, however it was torn into chunks. */
export interface LineCutter {
  /** The lines that are complete now. */
  push(bytes: Uint8Array): Uint8Array[];
  /** How many bytes of a line have come that is not complete. */
  readonly begun: number;
  /** What has come of a line that is not complete, in a piece; it stays. */
  peek(): Uint8Array;
  /** The same, taken: the stream is over, or it counts as it is. `undefined`: nothing. */
  take(): Uint8Array | undefined;
}

export function createLineCutter(): LineCutter {
  let pieces: Uint8Array[] = [];
  let begun = 0;
  const take = (): Uint8Array | undefined => {
    if (begun === 0) return undefined;
    const line = concatBytes(pieces);
    [pieces, begun] = [[], 0];
    return line;
  };
  return {
    push(bytes) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (;;) {
        const newline = bytes.indexOf(NEWLINE, from);
        if (newline < 0) break;
        pieces.push(bytes.subarray(from, newline + 1));
        begun += newline + 1 - from;
        from = newline + 1;
        lines.push(take() as Uint8Array);
      }
      if (from < bytes.length) {
        pieces.push(bytes.slice(from));
        begun += bytes.length - from;
      }
      return lines;
    },
    get begun() {
      return begun;
    },
    peek: () => {
      const whole = concatBytes(pieces);
      pieces = begun === 0 ? [] : [whole];
      return whole;
    },
    take,
  };
}
