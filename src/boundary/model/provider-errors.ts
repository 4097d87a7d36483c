import type { Json, StoredError } from "../../cassette/schema.ts";
import { errorToStored, isError, storedToError } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import { setKey } from "../../wire/json.ts";

/**
 * Errors of model providers. A program, and the AI SDK's own retries, tell them by a registered symbol and not by their
 * class, and look at more than a cassette keeps of an error: the status (stored as its `code`), whether to try again,
 * the headers of the answer. So the rest of an error's own properties is stored beside it, as its details, and what
 * is made from both counts as the SDK's own.
 */

type Members = { readonly [key: string]: Json };

/** An error as it is stored, and what else it carried. */
export interface StoredProviderError {
  readonly stored: StoredError;
  readonly details: Members | undefined;
}

const STORED = new Set(["name", "message", "stack", "code", "cause"]);
const MARKERS = "markers";

/** The stored form of what a model threw. Properties that cannot be stored (functions, sockets) are left out. */
export function storeProviderError(error: unknown): StoredProviderError {
  return { stored: withStatus(error, errorToStored(error)), details: detailsOf(error) };
}

/** The error made anew: of the same name, with the same properties, and taken by the AI SDK for its own where it was. */
export function restoreProviderError(stored: StoredError, details?: Json): Error {
  return restoreInto(storedToError(stored), stored, isMembers(details) ? details : {});
}

/** The status of a provider's error is its code, unless it has a code of its own. */
function withStatus(error: unknown, stored: StoredError): StoredError {
  const { code, statusCode, cause } = Object(error) as { code?: unknown; statusCode?: unknown; cause?: unknown };
  return {
    ...stored,
    ...(code === undefined && typeof statusCode === "number" && markersOf(stored.name).length > 0
      ? { code: statusCode }
      : {}),
    ...(stored.cause === undefined ? {} : { cause: withStatus(cause, stored.cause) }),
  };
}

function detailsOf(error: unknown, depth = 0): Members | undefined {
  if (!isError(error) || depth > 8) return undefined;
  const details: { [key: string]: Json } = {};
  const own = error as Error & { code?: unknown; statusCode?: unknown };
  const markers = markersOf(error.name);
  const derived: Readonly<Record<string, unknown>> =
    markers.length === 0 || own.code !== undefined
      ? {}
      : { statusCode: own.statusCode, isRetryable: isRetryable(own.statusCode) };
  for (const [key, value] of Object.entries(error)) {
    if (STORED.has(key) || value === undefined || derived[key] === value) continue;
    const json = storable(value);
    if (json !== undefined) setKey(details, key, json);
  }
  if (typeof own.code === "number" && markers.length > 0) details.code = own.code;
  const carried = Object.getOwnPropertySymbols(error).flatMap((symbol) => Symbol.keyFor(symbol) ?? []);
  const known = carried.filter((key) => key.startsWith("vercel.ai."));
  if (known.toSorted().join() !== markers.toSorted().join()) details[MARKERS] = known;
  const cause = detailsOf(error.cause, depth + 1);
  if (cause !== undefined) details.cause = cause;
  return Object.keys(details).length === 0 ? undefined : details;
}

function storable(value: unknown): Json | undefined {
  try {
    return tagValue(value);
  } catch {
    return undefined; // what it is about is in the message; the error itself must not fail for it
  }
}

function restoreInto(error: Error, stored: StoredError, details: Members): Error {
  const markers = markersOf(stored.name);
  if (markers.length > 0 && typeof stored.code === "number" && !Object.hasOwn(details, "code")) {
    delete (error as { code?: unknown }).code;
    define(error, "statusCode", stored.code);
  }
  if (markers.length > 0 && !Object.hasOwn(details, "isRetryable") && typeof stored.code !== "string") {
    if (stored.code !== undefined || stored.name === CALL_ERROR) define(error, "isRetryable", isRetryable(stored.code));
  }
  const { [MARKERS]: carried, cause, ...rest } = details;
  for (const [key, value] of Object.entries(rest)) define(error, key, untagValue(value));
  for (const key of Array.isArray(carried) ? carried : markers) define(error, Symbol.for(String(key)), true);
  if (stored.cause !== undefined && isError(error.cause))
    restoreInto(error.cause, stored.cause, isMembers(cause) ? cause : {});
  return error;
}

const CALL_ERROR = "AI_APICallError";

/** The symbols by which the AI SDK's packages know their errors: they follow from the name. */
function markersOf(name: string): readonly string[] {
  const family = /^AI_\w/.test(name) ? "vercel.ai.error" : /^Gateway\w/.test(name) ? "vercel.ai.gateway.error" : "";
  return family === "" ? [] : [family, `${family}.${name}`];
}

/** What the AI SDK makes of a status, unless a provider says otherwise. */
function isRetryable(status: unknown): boolean {
  return typeof status === "number" && (status === 408 || status === 409 || status === 429 || status >= 500);
}

function define(error: Error, key: string | symbol, value: unknown): void {
  Object.defineProperty(error, key, { value, enumerable: true, configurable: true, writable: true });
}

function isMembers(value: Json | undefined): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
