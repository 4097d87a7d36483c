import { contentText } from "./content.ts";
import type { Unit } from "./frames-units.ts";
import type { Style } from "./schema.ts";

/** How many styles of a body are weighed against each other; bodies that mix more are rare. */
const CANDIDATES = 6;

/**
 * The style of a body: that which leaves the fewest units in need of their own, the default before any other. Most
 * units are printed alike in several styles (`[1]` says nothing about colons), so every unit is asked, not counted.
 */
export function commonStyle(units: readonly Unit[]): Style | undefined {
  const counts = new Map<Style | undefined, number>();
  for (const { printed, style } of units) if (printed !== undefined) counts.set(style, (counts.get(style) ?? 0) + 1);
  if (counts.size === 0) return undefined;
  const seen = [...counts].sort(([a, m], [b, n]) => n - m || (a ? 1 : 0) - (b ? 1 : 0)).map(([style]) => style);
  if (seen.length === 1) return seen[0];

  let best: { style: Style | undefined; misfits: number } | undefined;
  for (const style of seen.slice(0, CANDIDATES)) {
    const misfits = countMisfits(units, style, best?.misfits ?? units.length);
    if (best === undefined || misfits < best.misfits) best = { style, misfits };
    if (misfits === 0) break;
  }
  return best?.style;
}

/** The style that a unit has to state in a body of that style: `undefined` where the body's prints it exactly. */
export function ownStyle(unit: Unit, common: Style | undefined): Style | undefined {
  return fits(unit, common) ? undefined : (unit.style ?? {});
}

function countMisfits(units: readonly Unit[], style: Style | undefined, limit: number): number {
  let misfits = 0;
  for (const unit of units) if (!fits(unit, style) && ++misfits >= limit) break;
  return misfits;
}

function fits(unit: Unit, style: Style | undefined): boolean {
  if (unit.printed === undefined || unit.style === style) return true;
  return contentText(unit.content, style) === unit.printed;
}
