import { faultsOf } from "./careful.ts";
import { checkShape } from "./check.ts";
import { formatPath } from "./fault.ts";
import { deepFreeze, nestsDeeper } from "./freeze.ts";
import { cassetteInvalid } from "./invalid.ts";
import { limitsOf, tooDeep } from "./limits.ts";
import { checkRules } from "./rules.ts";
import type { Cassette } from "./schema.ts";

// What was read by us is deeply frozen and stays valid, so it need not be looked at again.
const sound = new WeakSet<Cassette>();

/** Notes that a cassette is valid and deeply frozen. */
export function markSound(cassette: Cassette): Cassette {
  sound.add(cassette);
  return cassette;
}

/** CassetteInvalid, naming every fault, for a value that is not a valid cassette. The value is not touched. */
export function requireSound(cassette: Cassette): void {
  if (sound.has(cassette)) return;
  const limits = limitsOf({});
  const issue = (path: string, message: string) => ({ line: 0, column: 0, path, message });
  if (nestsDeeper(cassette, limits.depth)) throw cassetteInvalid(undefined, [issue("", tooDeep(limits))]);
  if (checkShape(cassette).length === 0 && checkRules(cassette).length === 0) return;
  // To find every fault the value is spoilt, so it is a copy that is looked at.
  const faults = faultsOf(structuredClone(cassette), limits);
  throw cassetteInvalid(
    undefined,
    faults.map(({ path, message }) => issue(formatPath(path), message)),
  );
}

/** The cassette as a valid, deeply frozen value: itself where it was read by us, else a copy. CassetteInvalid as above. */
export function soundCassette(cassette: Cassette): Cassette {
  requireSound(cassette);
  return sound.has(cassette) ? cassette : markSound(deepFreeze(structuredClone(cassette)));
}
