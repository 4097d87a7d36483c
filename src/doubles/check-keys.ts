import { suggest } from "../cassette/nearest.ts";
import { OptionInvalid } from "../errors.ts";

/** Refuses options that are none, each with the nearest that there is. */
export function checkKeys(what: string, options: object, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new OptionInvalid(`The options of ${what} are an object; got ${options === null ? "null" : typeof options}.`);
  }
  const faults = Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no option ${key}${suggest(key, known, "they are")}`);
  if (faults.length > 0) throw new OptionInvalid(`The options of ${what} are wrong: ${faults.join("; ")}.`, { faults });
}
