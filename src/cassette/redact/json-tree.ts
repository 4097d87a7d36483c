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

/** The literal of a number that JSON has no room for: `{ "$number": "1.0" }`, `{ "$bigint": "12" }`. */
function taggedNumber(value: Json): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const [[tag, literal] = [], ...others] = Object.entries(value);
  const isNumber = (tag === "$number" || tag === "$bigint") && others.length === 0;
  return isNumber && typeof literal === "string" ? literal : undefined;
}

/** A value under the name of a credential. */
function mapSecret(value: Json, name: string, rule: string, map: JsonMap): Json {
  if (typeof value === "string") return map.secret(value, rule);
  const literal = typeof value === "number" ? String(value) : taggedNumber(value);
  if (literal !== undefined) return isSecretNumber(name, literal) ? map.secret(literal, rule) : value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return mapList(value as readonly string[], (item) => map.secret(item, rule));
  }
  return mapJson(value, map);
}

const isPair = (value: Json): value is readonly [string, Json] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === "string";

function mapNamed(name: string, value: Json, isText: boolean, map: JsonMap): Json {
  const rule = map.rules.keys.get(name.toLowerCase()) ?? ruleOfName(name);
  if (rule === undefined || (rule === "token" && isText)) return mapJson(value, map);
  return mapSecret(value, name, rule, map);
}

function mapArray(list: readonly Json[], map: JsonMap): Json {
  // A list of pairs lists names and values: headers, the entries of a map.
  if (!list.every(isPair)) return mapList(list, (item) => mapJson(item, map));
  return mapList(list as readonly (readonly [string, Json])[], (pair) => {
    const name = map.text(pair[0]);
    const value = mapNamed(pair[0], pair[1], false, map);
    return name === pair[0] && value === pair[1] ? pair : ([name, value] as const);
  });
}

/** A tree with its secrets replaced, by key and within its strings; the very same tree where nothing changed. */
export function mapJson(value: Json, map: JsonMap): Json {
  if (typeof value === "string") return map.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return mapArray(value as readonly Json[], map);
  const tree = value as Tree;
  const isText = languageModel.some((key) => Object.hasOwn(tree, key));
  // { "name": "authorization", "value": "…" }
  const named = typeof tree.name === "string" && typeof tree.value === "string" ? tree.name : undefined;
  const entries = Object.entries(tree).map(([key, item]): [string, Json] => {
    const name = key === "value" && named !== undefined ? named : key;
    return [map.text(key), mapNamed(name, item, isText, map)];
  });
  const changed = entries.some(([key, item]) => !Object.hasOwn(tree, key) || tree[key] !== item);
  return changed ? Object.fromEntries(entries) : value;
}
