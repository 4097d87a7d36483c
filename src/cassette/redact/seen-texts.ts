/**
 * Which texts were seen, in little space: enough to say later which of them may hold a value. Texts are kept as the set
 * of their runs of six characters, hashed, many texts to a page; a value can be only where all of its runs are. So the
 * cost of a question is that of the pages, some hundredths of that of the texts, and what a page holds is looked at
 * only where the value is likely to be in it.
 */
export interface SeenTexts {
  /** Adds a byte text that belongs to this key. */
  add(text: string, key: string): void;
  /** The keys of texts that may hold one of the values: those that do, and rarely their neighbours. */
  holdersOf(values: readonly string[]): ReadonlySet<string>;
}

const runLength = 6;
/** Texts share a page up to this many characters; a longer one has a page to itself. */
const pageSize = 1 << 18;
const bitsPerCharacter = 4;

const base = 0x01000193;
/** What the first character of a run counts in its hash. */
const leading = Array.from({ length: runLength - 1 }).reduce((power: number) => Math.imul(power, base), 1);

function eachRun(text: string, visit: (hash: number) => void): void {
  let rolling = 0;
  for (let i = 0; i < text.length; i++) {
    if (i >= runLength) rolling = (rolling - Math.imul(text.charCodeAt(i - runLength), leading)) | 0;
    rolling = (Math.imul(rolling, base) + text.charCodeAt(i)) | 0;
    // The low bits of the sum depend on few characters: mixed, all bits depend on all.
    if (i >= runLength - 1) visit(Math.imul(rolling ^ (rolling >>> 15), 0x9e3779b1) >>> 7);
  }
}

/** The hashes of a text's runs: none where it is shorter than one. */
function runsOf(text: string): readonly number[] {
  const runs: number[] = [];
  eachRun(text, (hash) => void runs.push(hash));
  return runs;
}

class Page {
  readonly keys = new Set<string>();
  room: number;
  readonly #bits: Uint32Array;
  readonly #mask: number;

  constructor(size: number) {
    const bits = 2 ** Math.min(25, Math.ceil(Math.log2(size * bitsPerCharacter)));
    this.#bits = new Uint32Array(bits / 32);
    this.#mask = bits - 1;
    this.room = size;
  }

  add(text: string, key: string): void {
    this.keys.add(key);
    this.room -= text.length;
    eachRun(text, (hash) => {
      const bit = hash & this.#mask;
      this.#bits[bit >>> 5]! |= 1 << (bit & 31);
    });
  }

  mayHold(runs: readonly number[]): boolean {
    return runs.every((hash) => {
      const bit = hash & this.#mask;
      return (this.#bits[bit >>> 5]! & (1 << (bit & 31))) !== 0;
    });
  }
}

export function createSeenTexts(): SeenTexts {
  const pages: Page[] = [];
  let open: Page | undefined;

  function createPage(size: number): Page {
    const page = new Page(size);
    pages.push(page);
    return page;
  }

  function pageFor(size: number): Page {
    if (size > pageSize) return createPage(size);
    if (open === undefined || open.room < size) open = createPage(pageSize);
    return open;
  }

  return {
    add: (text, key) => pageFor(text.length).add(text, key),
    holdersOf(values) {
      const holders = new Set<string>();
      const wanted = values.map(runsOf);
      for (const page of pages) {
        if (wanted.some((runs) => page.mayHold(runs))) for (const key of page.keys) holders.add(key);
      }
      return holders;
    },
  };
}
