import type { Json, StoredError } from "../../cassette/schema.ts";
import { errorToStored, storedToError } from "../../cassette/stored-error.ts";

/** An error of an MCP transport: beside what every error is stored with, what the SDKs tell them apart by. */
export interface NotedError extends StoredError {
  readonly data?: Json;
  /** The classes that the error is of, as the v2 packages mark them. */
  readonly brands?: readonly string[];
}

// By these marks the copies of the v2 packages in one process know each other's errors.
const BRANDS = Symbol.for("mcp.sdk.errorBrands");
const AUTH = Symbol.for("mcp.authSeamEscape");

/** An error as it is noted. What of its data is no JSON is left out. */
export function noteError(error: unknown): NotedError {
  const { data, [BRANDS]: brands, [AUTH]: auth } = Object(error) as Record<PropertyKey, unknown>;
  const kept = data === undefined ? undefined : jsonOf(data);
  const marks = [...(brands instanceof Set ? (brands as Set<string>) : []), ...(auth === true ? ["auth"] : [])];
  return {
    ...errorToStored(error),
    ...(kept === undefined ? {} : { data: kept }),
    ...(marks.length === 0 ? {} : { brands: marks }),
  };
}

/** The error again: an `Error` with its name, code and data, and of the v2 classes that it was of. */
export function errorFromNote({ data, brands = [], ...stored }: NotedError): Error {
  const error = storedToError(stored);
  if (data !== undefined) Object.assign(error, { data });
  const classes = brands.filter((brand) => brand !== "auth");
  return brandError(error, classes, classes.length < brands.length);
}

/** Marks an error as one of the v2 packages' classes: `instanceof` sees it as such there. */
export function brandError(error: Error, classes: readonly string[], auth = false): Error {
  if (classes.length > 0) Object.defineProperty(error, BRANDS, { value: new Set(classes), configurable: true });
  if (auth) Object.defineProperty(error, AUTH, { value: true, configurable: true });
  // `SdkHttpError` has its status on the class, which this error has not.
  const status = (error as { data?: { status?: unknown } }).data?.status;
  if (classes.length > 0 && typeof status === "number")
    Object.defineProperty(error, "status", { value: status, configurable: true });
  return error;
}

function jsonOf(value: unknown): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null") as Json;
  } catch {
    return undefined; // holds itself, or a bigint: nothing that a client could test for
  }
}
