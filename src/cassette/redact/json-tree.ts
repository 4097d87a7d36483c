import type { Json } from "../schema.ts";
import { mapList } from "./draft-fields.ts";
import { isSecretNumber } from "./json-places.ts";
import { ruleOfName } from "./names.ts";
import type { Rules } from "./rules.ts";

export interface JsonMap {
  readonly rules: Pick<Rules, "keys">;
  /** What is done to every string and key. */
  text(value: string): string;
  /** What is done to a value under the key of a credential. */
  secret(value: string, rule: string): string;
}

type Tree = { readonly [key: string]: Json };

/** Keys beside which a `token` is a piece of text of a language model. */
const languageModel = ["logprob", "bytes", "token_id", "rank"];

function mapSecret(value: Json, name: string, rule: string, map: JsonMap): Json {
  if (typeof value === "string") return map.secret(value, rule);
  if (typeof value === "number" && isSecretNumber(name, String(value))) return map.secret(String(value), rule);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return mapList(value as readonly string[], (item) => map.secret(item, rule));
  }
  return mapJson(value, map);
}

/** A tree with its secrets replaced, by key and within its strings; the very same tree where nothing changed. */
export function mapJson(value: Json, map: JsonMap): Json {
  if (typeof value === "string") return map.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return mapList(value as readonly Json[], (item) => mapJson(item, map));
  const tree = value as Tree;
  const isText = languageModel.some((key) => Object.hasOwn(tree, key));
  const entries = Object.entries(tree).map(([key, item]): [string, Json] => {
    const rule = map.rules.keys.get(key.toLowerCase()) ?? ruleOfName(key);
    const plain = rule === undefined || (rule === "token" && isText);
    return [map.text(key), plain ? mapJson(item, map) : mapSecret(item, key, rule, map)];
  });
  const changed = entries.some(([key, item]) => !Object.hasOwn(tree, key) || tree[key] !== item);
  return changed ? Object.fromEntries(entries) : value;
}
