/** Freezes a JSON value and everything in it. The value must have been made for this: nobody else may be writing to it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const key in value) {
    const item = value[key];
    if (typeof item === "object" && item !== null) deepFreeze(item);
  }
  return Object.freeze(value);
}

/** Whether a value nests deeper than `limit`: asked before anything recursive sees what was parsed without a limit. */
export function nestsDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === "object" && item !== null && nestsDeeper(item, limit - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object" && item !== null && nestsDeeper(item, limit - 1)) return true;
  }
  return false;
}
