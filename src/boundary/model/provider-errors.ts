import type { Json, StoredError } from "../../cassette/schema.ts";
import { errorToStored, isError, storedToError } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import { setKey } from "../../wire/json.ts";
import { withoutUndefined } from "./without-undefined.ts";

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

const MARKERS = "$markers";
const SENT = "requestBodyValues";
const STORED = new Set(["name", "message", "stack", "code", "cause", MARKERS]);

/** The stored form of what a model threw. Properties that cannot be stored (functions, sockets) are left out. */
export function storeProviderError(error: unknown): StoredProviderError {
  return { stored: withStatus(error, errorToStored(error)), details: detailsOf(error) };
}

/** The error made anew: of the same name, with the same properties, and taken by the AI SDK for its own where it was. */
export function restoreProviderError(stored: StoredError, details?: Json): Error {
  return restoreInto(storedToError(stored), stored, isMembers(details) ? details : {});
}

/** The status of a provider's refusal is its code, unless it has a code of its own. */
function withStatus(error: unknown, stored: StoredError): StoredError {
  const { statusCode, cause } = Object(error) as { statusCode?: unknown; cause?: unknown };
  return {
    ...stored,
    ...(isRefusal(error) && typeof statusCode === "number" ? { code: statusCode } : {}),
    ...(stored.cause === undefined ? {} : { cause: withStatus(cause, stored.cause) }),
  };
}

/** Whether an error has a status, and says whether to try again, as those of the AI SDK do that tell of an answer. */
function isRefusal(error: unknown): boolean {
  if (!isError(error) || !refuses(error.name) || (error as { code?: unknown }).code !== undefined) return false;
  return sameMarkers(carriedBy(error), markersOf(error.name));
}

function detailsOf(error: unknown, depth = 0): Members | undefined {
  if (!isError(error) || depth > 8) return undefined;
  const details: { [key: string]: Json } = {};
  const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown };
  const derived: Readonly<Record<string, unknown>> = isRefusal(error)
    ? { statusCode, isRetryable: isRetryable(statusCode) }
    : {};
  for (const [key, value] of Object.entries(error)) {
    if (STORED.has(key) || value === undefined || derived[key] === value) continue;
    const json = storable(value);
    if (json !== undefined) setKey(details, key, key === SENT ? withoutUndefined(json) : json);
  }
  if (typeof code === "number" && refuses(error.name)) details.code = code;
  const carried = carriedBy(error);
  if (!sameMarkers(carried, markersOf(error.name))) details[MARKERS] = carried;
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
  const { code, name } = stored;
  const own = [MARKERS, "code"].some((key) => Object.hasOwn(details, key));
  if (refuses(name) && !own && typeof code !== "string") {
    if (code !== undefined) {
      delete (error as { code?: unknown }).code;
      define(error, "statusCode", code);
    }
    define(error, "isRetryable", isRetryable(code));
  }
  const { [MARKERS]: carried, cause, ...rest } = details;
  for (const [key, value] of Object.entries(rest)) define(error, key, untagValue(value));
  for (const key of Array.isArray(carried) ? carried.filter(isMarker) : markersOf(name))
    define(error, Symbol.for(key), true);
  if (stored.cause !== undefined && isError(error.cause))
    restoreInto(error.cause, stored.cause, isMembers(cause) ? cause : {});
  return error;
}

/** The names of errors that tell of a provider's answer. */
function refuses(name: string): boolean {
  return name === "AI_APICallError" || /^Gateway\w/.test(name);
}

function carriedBy(error: Error): readonly string[] {
  const keys = Object.getOwnPropertySymbols(error).flatMap((symbol) => Symbol.keyFor(symbol) ?? []);
  return keys.filter(isMarker);
}

function isMarker(key: unknown): key is string {
  return typeof key === "string" && key.startsWith("vercel.ai.");
}

const sameMarkers = (a: readonly string[], b: readonly string[]): boolean =>
  a.toSorted().join() === b.toSorted().join();

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
