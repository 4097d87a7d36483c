import { type Path, quoteValue } from "./fault.ts";
import type { RuleContext } from "./rule-context.ts";
import type { Json } from "./schema.ts";

/** A number as JSON writes it. */
export const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A number of a call's value: also those that JSON lacks. */
export const valueNumber = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;

/** Checks the `{ "$number": … }` in a tree; `numbers` says which literals are right there. */
export function payloadRules(tree: Json | undefined, path: Path, numbers: RegExp, context: RuleContext): void {
  if (tree === undefined || !mayHold(tree)) return;
  walk(tree, [...path], numbers, context);
}

function mayHold(tree: Json): boolean {
  return typeof tree === "object" && tree !== null;
}

function walk(tree: Json, path: (string | number)[], numbers: RegExp, context: RuleContext): void {
  if (typeof tree !== "object" || tree === null) return;
  const keys = Object.keys(tree);
  if (!Array.isArray(tree) && keys.length === 1) {
    const only = keys[0]!;
    const value = (tree as Readonly<Record<string, Json>>)[only]!;
    if (only === "$number" && !(typeof value === "string" && numbers.test(value))) {
      context.fault(
        [...path, only],
        `must be a number as it is written, in a text ("1.0", "1e-05"), not ${quoteValue(value)}; ` +
          'a real object of this shape is { "$literal": { … } }',
      );
      return;
    }
    // What stands in a literal is a real object: its own keys mean nothing, those below it do.
    if (only === "$literal" && mayHold(value) && !Array.isArray(value)) {
      walkItems(value as Readonly<Record<string, Json>>, [...path, only], numbers, context);
      return;
    }
  }
  walkItems(tree as Readonly<Record<string, Json>>, path, numbers, context);
}

function walkItems(
  items: Readonly<Record<string, Json>>,
  path: (string | number)[],
  numbers: RegExp,
  context: RuleContext,
): void {
  const list = Array.isArray(items);
  for (const key of Object.keys(items)) {
    const item = items[key]!;
    if (!mayHold(item)) continue;
    path.push(list ? Number(key) : key);
    walk(item, path, numbers, context);
    path.pop();
  }
}
