import type { Json } from "../cassette/schema.ts";

/** One place in which two requests differ, as a JSON Pointer into their facets. */
export interface Difference {
  readonly path: string;
  /** `undefined` where the recorded request has nothing there. */
  readonly recorded: Json | undefined;
  /** `undefined` where the program's request has nothing there. */
  readonly asked: Json | undefined;
}

/** Where two values differ, in the order of the recorded one; stops after `limit`. */
export function differences(recorded: Json | undefined, asked: Json | undefined, limit = 50): Difference[] {
  const found: Difference[] = [];
  const visit = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (found.length >= limit || a === b) return;
    if (isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)) {
      const left = a as Record<string, Json>;
      const right = b as Record<string, Json>;
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
        const step = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        visit(
          Object.hasOwn(left, key) ? left[key] : undefined,
          Object.hasOwn(right, key) ? right[key] : undefined,
          step,
        );
      }
      return;
    }
    found.push({ path: path === "" ? "/" : path, recorded: a, asked: b });
  };
  visit(recorded, asked, "");
  return found;
}

function isContainer(value: Json | undefined): boolean {
  return typeof value === "object" && value !== null;
}

/** The candidate that differs in the fewest places, the earliest of equals. */
export function nearest<T extends { facets: Json }>(
  candidates: Iterable<T>,
  asked: Json,
): { candidate: T; differences: Difference[] } | undefined {
  let best: { candidate: T; differences: Difference[] } | undefined;
  for (const candidate of candidates) {
    const found = differences(candidate.facets, asked, best === undefined ? 50 : weight(best.differences));
    if (best === undefined || weight(found) < weight(best.differences)) best = { candidate, differences: found };
  }
  return best;
}

// Another method or path is further away than another value in a body.
function weight(found: readonly Difference[]): number {
  let sum = 0;
  for (const { path } of found) sum += /^\/(method|path|origin|name)$/.test(path) ? 5 : 1;
  return sum;
}
