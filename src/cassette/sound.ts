import { faultsOf } from "./careful.ts";
import { formatPath } from "./fault.ts";
import { deepFreeze, nestsDeeper } from "./freeze.ts";
import { cassetteInvalid } from "./invalid.ts";
import { limitsOf } from "./limits.ts";
import type { Cassette } from "./schema.ts";

// What was read by us is deeply frozen and stays valid, so it need not be looked at again.
const sound = new WeakSet<Cassette>();

/** Notes that a cassette is valid and deeply frozen. */
export function markSound(cassette: Cassette): Cassette {
  sound.add(cassette);
  return cassette;
}

/** The cassette as a valid, deeply frozen value: itself where it was read by us, else a copy. CassetteInvalid names every fault. */
export function soundCassette(cassette: Cassette): Cassette {
  if (sound.has(cassette)) return cassette;
  const limits = limitsOf({});
  if (nestsDeeper(cassette, limits.depth))
    throw cassetteInvalid(undefined, [{ line: 0, column: 0, path: "", message: `nests deeper than ${limits.depth}` }]);
  const copy = structuredClone(cassette);
  const faults = faultsOf(copy, limits);
  if (faults.length > 0)
    throw cassetteInvalid(
      undefined,
      faults.map(({ path, message }) => ({ line: 0, column: 0, path: formatPath(path), message })),
    );
  return markSound(deepFreeze(copy));
}
