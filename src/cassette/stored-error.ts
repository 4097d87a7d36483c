import type { Json } from "../wire/json.ts";
import type { StoredError } from "./schema.ts";

/** Errors as data: what a program tests them by (name, message, code, cause) and nothing else. */

/** Chains of causes are cut here; a real one has three or four links. */
const CAUSE_LIMIT = 32;

/** Whether a value is an error, of this realm or another. */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true;
  const kind = Object.prototype.toString.call(value);
  return kind === "[object Error]" || kind === "[object DOMException]";
}

/**
 * The stored form of what was thrown. What is no error becomes one that says what it was; causes that repeat are left
 * out. Of the errors that an `AggregateError` without a cause holds the first is stored as its cause.
 */
export function errorToStored(error: unknown): StoredError {
  return store(error, new Set());
}

function store(error: unknown, seen: Set<unknown>): StoredError {
  seen.add(error);
  const {
    name,
    message,
    code,
    cause: own,
    errors,
  } = (typeof error === "object" && error !== null ? error : {}) as Partial<Record<string, unknown>>;
  const stored: { -readonly [K in keyof StoredError]: StoredError[K] } = {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : describe(error),
  };
  // The code of a DOMException is a number that follows from its name.
  if (typeof code === "string" || (typeof code === "number" && !isDomException(error))) stored.code = code;
  // Where a host has several addresses, Node says only in the inner errors which of them refused, and its message is "".
  const cause = own ?? (Array.isArray(errors) ? errors[0] : undefined);
  if (cause !== undefined && cause !== null && !seen.has(cause) && seen.size < CAUSE_LIMIT)
    stored.cause = store(cause, seen);
  return stored;
}

function isDomException(error: unknown): boolean {
  return Object.prototype.toString.call(error) === "[object DOMException]";
}

function describe(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? Object.prototype.toString.call(thrown);
  } catch {
    return Object.prototype.toString.call(thrown); // holds itself, or a bigint: its kind is all that can be said
  }
}

type ErrorMaker = (message: string) => Error;

const classes: ReadonlyMap<string, ErrorMaker> = new Map<string, ErrorMaker>([
  ...[EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Class): [string, ErrorMaker] => [
    Class.name,
    (message) => new Class(message),
  ]),
  ["AggregateError", (message) => new AggregateError([], message)],
]);

// Of the DOMException names those that no other class has (https://webidl.spec.whatwg.org/#idl-DOMException-error-names).
const domExceptions = new Set(
  (
    "AbortError ConstraintError DataCloneError DataError EncodingError InvalidAccessError InvalidCharacterError " +
    "InvalidStateError NamespaceError NetworkError NotAllowedError NotFoundError NotReadableError NotSupportedError " +
    "OperationError QuotaExceededError ReadOnlyError SecurityError TimeoutError TransactionInactiveError " +
    "URLMismatchError UnknownError VersionError WrongDocumentError"
  ).split(" "),
);

/**
 * A stored error as a new `Error`: of the platform's class of that name where there is one (`TypeError`, a
 * `DOMException` for `AbortError`), else an `Error` with that name; `code` and `cause` are own properties. The cause of
 * an `AggregateError` is the one of its `errors`, too.
 */
export function storedToError(stored: StoredError): Error {
  const error = make(stored);
  if (error.name !== stored.name) define(error, "name", stored.name);
  if (stored.code !== undefined) define(error, "code", stored.code, true);
  if (stored.cause !== undefined) {
    const cause = storedToError(stored.cause);
    define(error, "cause", cause);
    if (stored.name === "AggregateError") define(error, "errors", [cause]);
  }
  return error;
}

function make({ name, message, code }: StoredError): Error {
  // Node's own AbortError is no DOMException, and has a code in letters.
  if (domExceptions.has(name) && typeof code !== "string" && typeof DOMException !== "undefined")
    return new DOMException(message, name);
  return (classes.get(name) ?? ((text) => new Error(text)))(message);
}

function define(error: Error, key: string, value: unknown, enumerable = false): void {
  Object.defineProperty(error, key, { value, enumerable, configurable: true, writable: true });
}

/** Whether a JSON value has the shape of a stored error. */
export function isStoredError(value: Json): value is { name: string; message: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { name, message, code, cause } = value as { readonly [key: string]: Json };
  if (typeof name !== "string" || typeof message !== "string") return false;
  return ["undefined", "string", "number"].includes(typeof code) && (cause === undefined || isStoredError(cause));
}
