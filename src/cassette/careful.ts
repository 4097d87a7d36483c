import type { Node } from "jsonc-parser";
import { checkShape, newerFormat } from "./check.ts";
import { type Fault, formatPath, type Path } from "./fault.ts";
import { deepFreeze } from "./freeze.ts";
import type { Issue } from "./invalid.ts";
import { cassetteLayout } from "./layout.ts";
import { type Limits, tooDeep, tooLarge, tooMany } from "./limits.ts";
import { tooDeepAt } from "./nesting.ts";
import { type Position, positionsIn } from "./position.ts";
import { checkRules } from "./rules.ts";
import type { Cassette } from "./schema.ts";
import { readSyntax } from "./syntax.ts";
import { type Duplicate, nodeAt, treeValue } from "./tree.ts";

/** What the careful path makes of a text. */
export interface Reading {
  /** Frozen; absent where there are issues. */
  readonly cassette: Cassette | undefined;
  /** Every fault of the text: of syntax, of shape, of the rules. */
  readonly issues: readonly Issue[];
  /** The syntax tree, as far as there is one. */
  readonly root: Node | undefined;
  /** The position of what stands at a path, or of the nearest thing above it. */
  position(path: Path, atKey?: boolean): Position;
}

/** Reads a text with positions, comments, duplicate keys and numbers as they are written. Never throws for bad input. */
export function readCarefully(text: string, limits: Limits): Reading {
  const at = positionsIn(text);
  const whole = (message: string, offset = 0): Reading => ({
    cassette: undefined,
    issues: [{ ...at(offset), path: "", message }],
    root: undefined,
    position: () => ({ line: 1, column: 1 }),
  });
  if (text.length > limits.size) return whole(tooLarge(text.length, limits));
  const deep = tooDeepAt(text, limits.depth);
  if (deep !== -1) return whole(tooDeep(limits), deep);

  const { root, faults: syntax } = readSyntax(text);
  const issues: Issue[] = syntax.map(({ offset, message }) => ({ ...at(offset), path: "", message }));
  const position = (path: Path, atKey = false): Position =>
    at(root === undefined ? 0 : nodeAt(root, path, atKey).offset);
  if (root === undefined) return { cassette: undefined, issues, root, position };

  const duplicates: Duplicate[] = [];
  const value = treeValue(root, text, cassetteLayout, duplicates);
  const newer = newerFormat(value);
  if (newer !== undefined) {
    const issue = { ...position(newer.path), path: formatPath(newer.path), message: newer.message };
    return { cassette: undefined, issues: [issue], root, position };
  }
  for (const { path, offset, firstOffset } of duplicates)
    issues.push({
      ...at(offset),
      path: formatPath(path),
      message: `duplicate key ${JSON.stringify(path.at(-1))}; the first is on line ${at(firstOffset).line}`,
    });

  const broken = syntax.map(({ offset }) => offset).sort((a, b) => a - b);
  const lineOf = (path: Path): number => position(path).line;
  for (const fault of faultsOf(value, limits, lineOf)) {
    const node = nodeAt(root, fault.path, fault.atKey);
    // In a text that is broken right there, what seems to be absent may only be unreadable.
    if (fault.missing && anyWithin(broken, node.offset, node.offset + node.length)) continue;
    issues.push({ ...at(node.offset), path: formatPath(fault.path), message: fault.message });
  }
  const cassette = issues.length === 0 ? deepFreeze(value as Cassette) : undefined;
  return { cassette, issues, root, position };
}

/**
 * Every fault of a value: of its shape and of the rules. Where the shape has faults, the value is spoilt: what is wrong
 * is deleted from it, so that the rules can look at the rest.
 */
export function faultsOf(value: unknown, limits: Limits, lineOf?: (path: Path) => number): readonly Fault[] {
  const shape = checkShape(value);
  if (newerFormat(value) !== undefined || shape.some(({ path, missing }) => path.length === 0 && !missing))
    return shape;
  for (const fault of shape) if (!fault.missing) deleteAt(value, fault.path);
  const faults = [...shape];
  // What a wrong key was meant to be is absent, too: that is told once.
  const above = new Set(shape.map(({ path }) => formatPath(path.slice(0, -1))));
  for (const fault of checkRules(value as Cassette, lineOf))
    if (!(fault.missing && above.has(formatPath(fault.path)))) faults.push(fault);
  const count = (value as Partial<Cassette>).tracks?.length ?? 0;
  if (count > limits.tracks) faults.push({ path: ["tracks"], message: tooMany(count, limits) });
  return faults;
}

function deleteAt(value: unknown, path: Path): void {
  let parent = value as Record<string | number, unknown> | undefined;
  for (const step of path.slice(0, -1)) parent = parent?.[step] as typeof parent;
  if (parent !== undefined) delete parent[path.at(-1)!];
}

/** Whether any of the sorted offsets lies between two others. */
function anyWithin(sorted: readonly number[], from: number, to: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low]! <= to;
}
