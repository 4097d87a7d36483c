import type { Json, StoredError } from "../../cassette/schema.ts";
import { isError, isStoredError } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import { restoreProviderError, storeProviderError } from "./provider-errors.ts";
import { withoutUndefined } from "./without-undefined.ts";

type Members = { readonly [key: string]: Json };

/**
 * What a model answered, as it is stored: a tagged value. The body that it sent is kept as it went out: without what is
 * `undefined`, of which the requests of providers are full. Throws `OptionInvalid` for what cannot be stored.
 */
export function storeAnswer(answer: object): Json {
  const json = tagValue(answer) as Members;
  const { request } = json;
  if (typeof request !== "object" || request === null || Array.isArray(request)) return json;
  const { body } = request as Members;
  return body === undefined ? json : { ...json, request: { ...request, body: withoutUndefined(body) } };
}

/**
 * A part of a model's stream as it is stored: a tagged value. A part that tells an error has the error's details beside
 * it. Throws `OptionInvalid` for what cannot be stored.
 */
export function storePart(part: unknown): Json {
  if (!isErrorPart(part)) {
    const json = tagValue(part);
    // A part that only looks like one of ours is marked as what it is.
    return isStoredErrorPart(json) && "details" in json ? { $literal: json } : json;
  }
  const { stored, details } = storeProviderError(part.error);
  return { type: "error", error: { $error: stored as unknown as Json }, ...(details === undefined ? {} : { details }) };
}

/** The part made anew. */
export function restorePart(json: Json): unknown {
  if (!isStoredErrorPart(json)) return untagValue(json);
  return { type: "error", error: restoreProviderError(json.error.$error, json.details) };
}

function isErrorPart(part: unknown): part is { readonly type: "error"; readonly error: Error } {
  if (typeof part !== "object" || part === null || Object.keys(part).length !== 2) return false;
  const { type, error } = part as { type?: unknown; error?: unknown };
  return type === "error" && isError(error);
}

interface StoredErrorPart extends Members {
  readonly error: { readonly $error: StoredError & Json };
  readonly details: Json;
}

function isStoredErrorPart(json: Json): json is StoredErrorPart {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  const { type, error, details: _, ...more } = json as Members;
  if (type !== "error" || Object.keys(more).length > 0) return false;
  if (typeof error !== "object" || error === null || Array.isArray(error)) return false;
  const { $error, ...beside } = error as Members;
  return $error !== undefined && isStoredError($error) && Object.keys(beside).length === 0;
}
