import { OptionInvalid } from "../errors.ts";

/**
 * Answers by what a text contains: the first key that is in it wins, so an empty key answers the rest. The order is that
 * of the object; JavaScript puts keys that are whole numbers first, and a `Map` keeps them where they are.
 */
export type Dictionary<V> = Readonly<Record<string, V>> | ReadonlyMap<string, V>;

/** The entries of a dictionary, in order. `OptionInvalid` where it is none, or a value is not what it should be. */
export function entriesOf<V>(
  what: string,
  dictionary: Dictionary<V>,
  isValue: (value: unknown) => boolean,
  kind: string,
): readonly (readonly [string, V])[] {
  if (typeof dictionary !== "object" || dictionary === null || Array.isArray(dictionary)) {
    throw new OptionInvalid(`${what} takes a dictionary; got ${dictionary === null ? "null" : typeof dictionary}.`);
  }
  const entries = dictionary instanceof Map ? [...dictionary] : Object.entries(dictionary);
  for (const [key, value] of entries) {
    if (!isValue(value)) throw new OptionInvalid(`${what}: the answer to ${JSON.stringify(key)} is no ${kind}.`);
  }
  return entries;
}

/** The value of the first key that the text contains. */
export function firstMatch<V>(entries: readonly (readonly [string, V])[], text: string): V | undefined {
  return entries.find(([key]) => text.includes(key))?.[1];
}
