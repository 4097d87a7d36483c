import { CassetteInvalid, OptionInvalid } from "../errors.ts";
import { decodeBase64, encodeBase64 } from "../wire/bytes.ts";
import { type Json, setKey } from "../wire/json.ts";
import { errorToStored, isError, isStoredError, storedToError } from "./stored-error.ts";

export { errorToStored, storedToError } from "./stored-error.ts";

/**
 * Values of a call as JSON. What JSON lacks becomes an object with one key, a tag (`{ "$date": … }`); what cannot come
 * back as it was (functions, instances of classes, cycles) is refused by name, never dropped or approximated. Of an
 * error its name, message, code and chain of causes are kept.
 */

type JsonObject = { readonly [key: string]: Json };

/** Deeper values are refused: whatever walks a tree may recurse, and a map adds three levels to each of its own. */
const DEPTH_LIMIT = 300;

interface Place {
  /** The value's place, from `$`. Made only when it is needed: for an error. */
  readonly path: () => string;
  /** The objects that hold the value, to find cycles; its size is the depth. */
  readonly holders: Set<object>;
}

/**
 * The JSON form of a value, for a cassette. Throws `OptionInvalid` with the path of what cannot be stored
 * (`$.result.items[3].onClick`).
 */
export function tagValue(value: unknown): Json {
  return tag(value, { path: () => "$", holders: new Set() });
}

/** The value that `tagValue` was given, made anew. Throws `CassetteInvalid` for a tag that holds the wrong thing. */
export function untagValue(value: Json): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(untagValue);
  const key = Object.keys(value).find((name) => Object.hasOwn(readers, name));
  if (key === undefined) return untagMembers(value);
  const payload = value[key]!;
  const found = Object.keys(value).length === 1 ? readers[key]!(payload) : wrong;
  if (found !== wrong) return found;
  throw new CassetteInvalid(
    `${shortened(value)} is not a value: \`${key}\` is a tag and has to stand alone, with what it takes ` +
      `(${shapes[key]}). A plain object with such a key is written { "$literal": { … } }.`,
    { tag: key },
  );
}

function tag(value: unknown, place: Place): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "bigint":
      return { $bigint: String(value) };
    case "undefined":
      return { $undefined: true };
    case "object":
      return value === null ? null : tagObject(value, place);
    default:
      return refuse(place, typeof value === "function" ? `is a function${named(value.name)}` : "is a symbol");
  }
}

function tagObject(value: object, place: Place): Json {
  if (place.holders.has(value)) return refuse(place, "is an object that holds itself");
  if (place.holders.size >= DEPTH_LIMIT) return refuse(place, `is nested deeper than ${DEPTH_LIMIT} levels`);
  place.holders.add(value);
  const json = tagContent(value, place);
  place.holders.delete(value);
  return json;
}

function tagContent(value: object, place: Place): Json {
  const inside = (item: unknown, step: string): Json =>
    tag(item, { path: () => place.path() + step, holders: place.holders });
  if (Array.isArray(value)) return Array.from(value, (item, i) => inside(item, `[${i}]`));
  if (isError(value)) return { $error: errorToStored(value) as unknown as Json };

  // The tag and not `instanceof`: test runners hand over values of another realm.
  switch (Object.prototype.toString.call(value)) {
    case "[object Uint8Array]":
      return { $bytes: encodeBase64(value as Uint8Array) };
    case "[object Date]": {
      const date = value as Date;
      return { $date: Number.isNaN(date.getTime()) ? INVALID_DATE : date.toISOString() };
    }
    case "[object URL]":
      return { $url: (value as URL).href };
    case "[object Map]": {
      const entries = [...(value as Map<unknown, unknown>)];
      return { $map: entries.map(([key, item], i) => [inside(key, `<key ${i}>`), inside(item, `<value ${i}>`)]) };
    }
    case "[object Set]":
      return { $set: [...(value as Set<unknown>)].map((item, i) => inside(item, `<item ${i}>`)) };
  }

  if (!isPlain(value)) return refuse(place, `is ${instance(value)}`);
  if (Object.getOwnPropertySymbols(value).some((key) => Object.prototype.propertyIsEnumerable.call(value, key)))
    return refuse(place, "has a key that is a symbol");
  const members: { [key: string]: Json } = {};
  for (const [key, item] of Object.entries(value)) setKey(members, key, inside(item, step(key)));
  return Object.keys(members).some((key) => Object.hasOwn(readers, key)) ? { $literal: members } : members;
}

function refuse(place: Place, what: string): never {
  const path = place.path();
  throw new OptionInvalid(
    `The value at ${path} cannot be recorded: it ${what}, which would not come back as it was. ` +
      "Pass plain data across this boundary (objects, arrays, texts, numbers, bytes, Date, URL, Map, Set, Error), or convert it before it is recorded.",
    { path },
  );
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Whether an object is a literal's: without a prototype, or with one that itself has none (that of any realm). */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function instance(value: object): string {
  const name = value.constructor?.name;
  return name ? `an instance of ${name}` : "an instance of a class";
}

const named = (name: string): string => (name === "" ? "" : ` (${name})`);
const step = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

function shortened(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function untagMembers(value: JsonObject): { [key: string]: unknown } {
  const members: { [key: string]: unknown } = {};
  for (const [key, item] of Object.entries(value)) setKey(members, key, untagValue(item));
  return members;
}

const INVALID_DATE = "Invalid Date";
const wrong = Symbol("wrong");

const readers: { readonly [tag: string]: (payload: Json) => unknown } = {
  $bytes: (payload) => (typeof payload === "string" ? decodeBase64(payload) : undefined) ?? wrong,
  $date: (payload) => {
    if (typeof payload !== "string") return wrong;
    const date = new Date(payload);
    return payload === INVALID_DATE || !Number.isNaN(date.getTime()) ? date : wrong;
  },
  $url: (payload) => (typeof payload === "string" && URL.canParse(payload) ? new URL(payload) : wrong),
  $bigint: (payload) => (typeof payload === "string" && /^-?\d+$/.test(payload) ? BigInt(payload) : wrong),
  $undefined: (payload) => (payload === true ? undefined : wrong),
  $number: (payload) => {
    if (payload === "NaN" || payload === "Infinity" || payload === "-Infinity") return Number(payload);
    return typeof payload === "string" && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(payload) ? Number(payload) : wrong;
  },
  $error: (payload) => (isStoredError(payload) ? storedToError(payload) : wrong),
  $map: (payload) => {
    if (!isArray(payload) || !payload.every((entry) => isArray(entry) && entry.length === 2)) return wrong;
    return new Map((payload as [Json, Json][]).map(([key, item]) => [untagValue(key), untagValue(item)]));
  },
  $set: (payload) => (isArray(payload) ? new Set(payload.map(untagValue)) : wrong),
  $literal: (payload) => (isObject(payload) ? untagMembers(payload) : wrong),
};

const shapes: Readonly<Record<string, string>> = {
  $bytes: "padded base64",
  $date: 'an ISO 8601 text or "Invalid Date"',
  $url: "an absolute URL",
  $bigint: "digits in a text",
  $undefined: "true",
  $number: 'a number in a text, "NaN", "Infinity" or "-Infinity"',
  $error: 'an object with "name" and "message", and perhaps "code" and "cause"',
  $map: "a list of [key, value]",
  $set: "a list",
  $literal: "an object",
};

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isArray(value);
}
