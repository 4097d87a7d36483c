/** A place in a text for people: both from 1; a column is a code point. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds the line and column of offsets (UTF-16 units) in a text; the lines are counted once, when first asked. */
export function positionsIn(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  let pairs: ((offset: number) => number) | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    const start = starts[low]!;
    pairs ??= pairCounter(text);
    return { line: low + 1, column: offset - start - (pairs(offset) - pairs(start)) + 1 };
  };
}

const stride = 512;

/** Counts the surrogate pairs before an offset; counted in strides, because a file may be one long line of faults. */
function pairCounter(text: string): (offset: number) => number {
  const counts = [0];
  const count = (from: number, to: number): number => {
    let pairs = 0;
    for (let i = from; i < to; i++)
      if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) pairs++;
    return pairs;
  };
  for (let i = 0; i + stride <= text.length; i += stride) counts.push(counts.at(-1)! + count(i, i + stride));
  return (offset) => {
    const whole = Math.floor(offset / stride);
    return counts[whole]! + count(whole * stride, offset);
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(i + 1) !== 0x0a)) starts.push(i + 1);
  }
  return starts;
}
