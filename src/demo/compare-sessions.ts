import { decodeLatin1 } from "../wire/bytes.ts";
import type { ObservedRequest, SessionObservation } from "./session.ts";

/** How far two runs of a session saw the same. */
export interface SessionComparison {
  readonly answers: number;
  readonly bytes: number;
  readonly chunks: number;
  /** Secret values of the recorded run, and in how many places a pseudonym stands for one in the replayed run. */
  readonly redacted: { readonly values: number; readonly places: number };
  /** What differs and is no redaction, in words; none: the runs are the same. */
  readonly differences: readonly string[];
}

const PSEUDONYM = /REDACTED-[a-z\d]+(?:-[a-z\d]+)*-\d+/g;

/**
 * Compares everything that a program saw in two runs: method, URL, status, headers in order, every chunk with its
 * boundaries, and errors with their causes. Where the replayed run has a pseudonym the recorded one may have another
 * text, but a value has one pseudonym everywhere; nothing else may differ.
 */
export function compareSessions(recorded: SessionObservation, replayed: SessionObservation): SessionComparison {
  const differences: string[] = [];
  const pseudonyms = new Map<string, string>();
  let places = 0;

  /** Whether a text differs in more than what is redacted. */
  function unlike(before: string, after: string): boolean {
    if (before === after) return false;
    const found = redactions(before, after);
    if (found === undefined) return true;
    for (const [pseudonym, value] of found) {
      const known = pseudonyms.get(value);
      if (known !== undefined && known !== pseudonym) return true;
      pseudonyms.set(value, pseudonym);
      places++;
    }
    return false;
  }

  function compare(before: ObservedRequest, after: ObservedRequest, name: string): void {
    const differs = (what: string, one: unknown, other: unknown): void =>
      void differences.push(`${name}: ${what} was ${JSON.stringify(one)} and is ${JSON.stringify(other)}`);
    for (const field of ["method", "url", "status"] as const)
      if (before[field] !== after[field]) differs(field, before[field], after[field]);
    const one = JSON.stringify(before.error ?? null);
    const other = JSON.stringify(after.error ?? null);
    if (one !== other) differs("the error", before.error, after.error);
    if (before.chunks.length !== after.chunks.length)
      differs("the number of chunks", before.chunks.length, after.chunks.length);
    else
      before.chunks.forEach((chunk, i) => {
        if (unlike(decodeLatin1(chunk), decodeLatin1(after.chunks[i]!)))
          differences.push(`${name}: chunk ${i + 1} differs`);
      });
    compareHeaders(before, after, differs);
  }

  function compareHeaders(
    before: ObservedRequest,
    after: ObservedRequest,
    differs: (what: string, one: unknown, other: unknown) => void,
  ): void {
    const headers = before.headers ?? [];
    const others = after.headers ?? [];
    if (headers.length !== others.length) differs("the number of headers", headers.length, others.length);
    else
      headers.forEach(([header, value], i) => {
        const [otherHeader, otherValue] = others[i]!;
        // A body with other values in it has another length, and its header says so.
        const restated =
          header === "content-length" && value === String(size(before)) && otherValue === String(size(after));
        if (header !== otherHeader || (!restated && unlike(value, otherValue)))
          differs(`header ${i + 1}`, `${header}: ${value}`, `${otherHeader}: ${otherValue}`);
      });
  }

  if (recorded.requests.length !== replayed.requests.length)
    differences.push(`${recorded.requests.length} requests were made, and ${replayed.requests.length} are made now`);
  recorded.requests.forEach((before, i) => {
    const after = replayed.requests[i];
    if (after !== undefined) compare(before, after, `request ${i + 1} (${before.name})`);
  });
  return {
    answers: recorded.requests.length,
    bytes: recorded.requests.reduce((sum, request) => sum + size(request), 0),
    chunks: recorded.requests.reduce((sum, request) => sum + request.chunks.length, 0),
    redacted: { values: pseudonyms.size, places },
    differences,
  };
}

/** The pseudonyms of `after` with what stands for them in `before`, where nothing else differs. */
function redactions(before: string, after: string): [pseudonym: string, value: string][] | undefined {
  const names = after.match(PSEUDONYM);
  if (names === null) return undefined;
  const literals = after.split(PSEUDONYM);
  const first = literals[0]!;
  if (!before.startsWith(first)) return undefined;
  const found: [string, string][] = [];
  let at = first.length;
  for (const [i, name] of names.entries()) {
    const literal = literals[i + 1]!;
    const last = i === names.length - 1;
    const end = last ? before.length - literal.length : before.indexOf(literal, at + 1);
    if (end <= at || !before.startsWith(literal, end)) return undefined;
    found.push([name, before.slice(at, end)]);
    at = end + literal.length;
  }
  return found;
}

function size({ chunks }: ObservedRequest): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}
