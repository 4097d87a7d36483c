import type { StoredError } from "../../cassette/schema.ts";
import { errorToStored, storedToError } from "../../cassette/stored-error.ts";

/**
 * Errors of an agent's backend. A program tells them by their HTTP `status` too, for which an error in a cassette has no
 * place: it is the code of a first cause, `{ "name": "HttpStatus", "message": "HTTP 404", "code": 404 }`, which is
 * stored for it and taken off again. The error's own causes come after that one.
 */
const STATUS = "HttpStatus";

/** The stored form of what an agent's transport threw, with its status where it has one. */
export function agentErrorToStored(error: unknown): StoredError {
  const stored = errorToStored(error);
  const status = (error as { readonly status?: unknown } | null | undefined)?.status;
  if (typeof status !== "number" || !Number.isInteger(status)) return stored;
  const { cause } = stored;
  const told = { name: STATUS, message: `HTTP ${status}`, code: status };
  return { ...stored, cause: cause === undefined ? told : { ...told, cause } };
}

/** The error made anew, with `status` an own property where it was stored with one. */
export function storedToAgentError({ cause, ...rest }: StoredError): Error {
  if (cause?.name !== STATUS || typeof cause.code !== "number")
    return storedToError(cause === undefined ? rest : { ...rest, cause });
  const error = storedToError(cause.cause === undefined ? rest : { ...rest, cause: cause.cause });
  return Object.assign(error, { status: cause.code });
}
