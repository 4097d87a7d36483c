const quote = 0x22;
const backslash = 0x5c;
const slash = 0x2f;
const star = 0x2a;

/**
 * The offset of the first bracket that nests deeper than `limit`, or -1. It runs before any recursive reader sees the
 * text, over JSON with comments, well formed or not.
 */
export function tooDeepAt(text: string, limit: number): number {
  let depth = 0;
  return scanBrackets(text, (opens) => {
    if (opens) depth++;
    else if (depth > 0) depth--;
    return depth > limit;
  });
}

/** The offsets of the brackets that are never closed, outermost first. */
export function unclosedBrackets(text: string): number[] {
  const open: number[] = [];
  scanBrackets(text, (opens, offset) => {
    if (opens) open.push(offset);
    else open.pop();
    return false;
  });
  return open;
}

/** Calls `visit` for each bracket until it returns true; the offset at which it did, or -1. */
function scanBrackets(text: string, visit: (opens: boolean, offset: number) => boolean): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) i = endOfString(text, i);
    else if (unit === 0x7b || unit === 0x5b) {
      if (visit(true, i)) return i;
    } else if (unit === 0x7d || unit === 0x5d) {
      if (visit(false, i)) return i;
    } else if (unit === slash) i = endOfComment(text, i);
  }
  return -1;
}

// A string that is not ended ends with its line: so the scanner of the careful path sees it, too.
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === backslash) i++;
    else if (unit === quote || unit === 0x0a || unit === 0x0d) return i;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const next = text.charCodeAt(start + 1);
  if (next === slash) {
    for (let i = start; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === 0x0a || unit === 0x0d) return i;
    }
    return text.length;
  }
  if (next !== star) return start;
  const end = text.indexOf("*/", start + 2);
  return end === -1 ? text.length : end + 1;
}
