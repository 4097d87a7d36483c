import { OptionInvalid } from "../../errors.ts";

/** Refuses options that do not exist, and what is no object of options. */
export function checkKeys(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new OptionInvalid(`${what} takes its options as an object: { ${known.join(", ")} }.`);
  }
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  if (unknown.length === 0) return;
  const names = unknown.map((key) => JSON.stringify(key)).join(", ");
  throw new OptionInvalid(`${what} has no option ${names}; it has ${known.join(", ")}.`, { unknown, known });
}
