/**
 * A copy of data, so that nobody's later changes are seen: lists, plain objects, maps, sets, bytes and dates, however
 * they refer to each other. What is none of these (a function, an instance of a class) is the very same.
 */
export function copyOf<T>(value: T): T {
  return copied(value, new Map()) as T;
}

function copied(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = <C>(copy: C): C => {
    seen.set(value, copy);
    return copy;
  };
  if (Array.isArray(value)) {
    const list: unknown[] = keep([]);
    for (const item of value) list.push(copied(item, seen));
    return list;
  }
  if (value instanceof Map) {
    const map = keep(new Map());
    for (const [key, item] of value) map.set(copied(key, seen), copied(item, seen));
    return map;
  }
  if (value instanceof Set) {
    const set = keep(new Set());
    for (const item of value) set.add(copied(item, seen));
    return set;
  }
  if (value instanceof Date || value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return keep(structuredClone(value));
  const prototype = Object.getPrototypeOf(value);
  // A plain object of another realm has a prototype of its own, which has none.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value;
  const plain: Record<string, unknown> = keep({});
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(plain, key, {
      value: copied(item, seen),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return plain;
}
