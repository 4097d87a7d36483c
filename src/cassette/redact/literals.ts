/**
 * Many literals looked for in one pass over a text (Wu and Manber's algorithm with blocks of two characters). The cost
 * is that of the text, hardly that of the number of literals, and a literal can be added at any time.
 *
 * Literals are told apart by their ends, because the beginnings of secrets are alike (`eyJhbGciOi…`) and the ends not.
 */

/** A set of literals, each with a value that is handed to the visitor. */
export interface Literals<T> {
  readonly size: number;
  /** Adds a literal of at least two characters. Characters are Latin-1. */
  add(literal: string, value: T): void;
  /** Visits every occurrence, overlapping ones too, in the order of their ends. */
  each(text: string, visit: (value: T, start: number, end: number) => void): void;
}

interface Entry<T> {
  readonly literal: string;
  readonly value: T;
}

const maxWindow = 32;
/** By so many of their last characters literals are told apart before they are compared. */
const maxTail = 4;
const blocks = 1 << 14;

// The case bit is set in both characters: "A" and "a" share a block, and so do some others, which the comparison tells apart.
const block = (a: number, b: number): number => (((a | 32) & 127) << 7) | ((b | 32) & 127);

export function createLiterals<T>(options: { ignoreCase?: boolean } = {}): Literals<T> {
  const ignoreCase = options.ignoreCase ?? false;
  const entries: Entry<T>[] = [];
  const shifts = new Uint8Array(blocks);
  const byTail = new Map<number, Entry<T>[]>();
  let window = maxWindow;

  function index(entry: Entry<T>): void {
    const { literal } = entry;
    const first = literal.length - window;
    for (let i = 1; i < window; i++) {
      const at = block(literal.charCodeAt(first + i - 1), literal.charCodeAt(first + i));
      shifts[at] = Math.min(shifts[at]!, window - 1 - i);
    }
    const tail = tailBefore(literal, literal.length);
    const others = byTail.get(tail);
    if (others === undefined) byTail.set(tail, [entry]);
    else others.push(entry);
  }

  /** The characters before an offset as one number, the case bit set. */
  function tailBefore(text: string, end: number): number {
    let tail = 0;
    for (let i = Math.max(0, end - Math.min(window, maxTail)); i < end; i++)
      tail = (tail << 7) | ((text.charCodeAt(i) | 32) & 127);
    return tail;
  }

  function matches(text: string, literal: string, start: number): boolean {
    if (start < 0) return false;
    if (!ignoreCase) return text.startsWith(literal, start);
    // Most candidates fall here, without a copy being made.
    for (let i = literal.length - 1; i >= 0; i--) {
      if (((text.charCodeAt(start + i) ^ literal.charCodeAt(i)) | 32) !== 32) return false;
    }
    return text.slice(start, start + literal.length).toLowerCase() === literal;
  }

  shifts.fill(window - 1);
  return {
    get size() {
      return entries.length;
    },
    add(literal, value) {
      if (literal.length < 2) throw new RangeError("a literal has at least two characters");
      const entry = { literal: ignoreCase ? literal.toLowerCase() : literal, value };
      entries.push(entry);
      if (literal.length >= window) return index(entry);
      window = literal.length;
      shifts.fill(window - 1);
      byTail.clear();
      for (const each of entries) index(each);
    },
    each(text, visit) {
      if (entries.length === 0) return;
      const { length } = text;
      let i = window - 1;
      while (i < length) {
        const at = block(text.charCodeAt(i - 1), text.charCodeAt(i));
        const shift = shifts[at]!;
        if (shift > 0) {
          i += shift;
          continue;
        }
        i++;
        const candidates = byTail.get(tailBefore(text, i));
        if (candidates === undefined) continue;
        for (const { literal, value } of candidates) {
          if (matches(text, literal, i - literal.length)) visit(value, i - literal.length, i);
        }
      }
    },
  };
}
