import { formatPath } from "../cassette/fault.ts";
import { OptionInvalid } from "../errors.ts";

/** OptionInvalid for what is no name of a variable. */
export function checkVarName(name: string): void {
  if (typeof name === "string" && /^[A-Za-z0-9][\w.-]*$/.test(name)) return;
  throw new OptionInvalid(
    `${JSON.stringify(name)} is no name of a variable: it is letters, digits, "_", "." and "-", and begins with a letter or digit.`,
  );
}

/** OptionInvalid, with the place, for a value that a cassette cannot give back as it is: variables are JSON. */
export function checkVarValue(name: string, value: unknown): void {
  const fault = notJson(value, [], new Set());
  if (fault === undefined) return;
  const where = fault.path.length === 0 ? "" : ` at ${formatPath(fault.path)}`;
  throw new OptionInvalid(
    `The variable "${name}" holds ${fault.what}${where}; a variable is JSON.\n  next      make it text, a number, a list or a plain object, and build what the program needs from that`,
    { name },
  );
}

type Path = (string | number)[];

function notJson(value: unknown, path: Path, holders: Set<object>): { what: string; path: Path } | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { what: String(value), path };
  if (typeof value !== "object")
    return { what: typeof value === "undefined" ? "undefined" : `a ${typeof value}`, path };
  if (holders.has(value)) return { what: "itself", path };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return { what: `an instance of ${(value as object).constructor?.name ?? "a class"}`, path };
  }
  holders.add(value);
  // Array.from sees holes as undefined.
  const entries = Array.isArray(value) ? Array.from(value, (item, i) => [i, item] as const) : Object.entries(value);
  for (const [key, item] of entries) {
    const fault = notJson(item, [...path, key], holders);
    if (fault !== undefined) return fault;
  }
  holders.delete(value);
  return undefined;
}
