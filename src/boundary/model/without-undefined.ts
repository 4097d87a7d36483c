import type { Json } from "../../cassette/schema.ts";
import { setKey } from "../../wire/json.ts";

/** A tagged value without members that are `undefined`: for what goes out as JSON, where they are not there. */
export function withoutUndefined(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutUndefined);
  const members: { [key: string]: Json } = {};
  for (const [key, item] of Object.entries(value as { readonly [key: string]: Json })) {
    if (!isUndefined(item)) setKey(members, key, withoutUndefined(item));
  }
  return members;
}

function isUndefined(value: Json): boolean {
  return typeof value === "object" && value !== null && (value as { $undefined?: Json }).$undefined === true;
}
