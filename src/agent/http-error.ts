import { isWiretapeError } from "../errors.ts";

/**
 * A plain `Error` that came over HTTP: `name`, `message` and `code` are those of the served transport's error, where it
 * was one.
 */
export interface AgentTransportError extends Error {
  /** Of the HTTP answer. */
  readonly status: number;
  readonly code?: string | number;
}

/** An error as it crosses: in a JSON answer, and in the `data:` of an `event: error` on a watch stream. No stack. */
export interface ErrorBody {
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly code?: string | number;
    readonly status: number;
    /** Beside an unknown route: those that there are. */
    readonly routes?: readonly string[];
  };
}

/** What crosses of an error that the served transport threw. */
export function errorBody(error: unknown): ErrorBody {
  const { name, message, code } = (
    error instanceof Error ? error : { name: "Error", message: String(error) }
  ) as Partial<AgentTransportError> & { name: string; message: string };
  const named = typeof code === "string" || typeof code === "number";
  return { error: { name: String(name), message: String(message), ...(named && { code }), status: statusOf(error) } };
}

// A violation of the tape is told apart from any answer that a backend gives: 599, as wherever a violation becomes HTTP.
function statusOf(error: unknown): number {
  if (isWiretapeError(error)) return error.code === "option-invalid" ? 400 : 599;
  const status = (error as { status?: unknown } | null | undefined)?.status;
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
}

/** The error that a body describes, or `undefined` where it describes none. */
export function errorFrom(value: unknown, status: number): AgentTransportError | undefined {
  const told = (value as { error?: unknown } | null | undefined)?.error;
  if (typeof told !== "object" || told === null) return undefined;
  const { name, message, code, status: own } = told as Record<string, unknown>;
  if (typeof message !== "string") return undefined;
  return transportError(message, {
    name: typeof name === "string" ? name : "Error",
    status: status === 200 && typeof own === "number" ? own : status,
    ...((typeof code === "string" || typeof code === "number") && { code }),
  });
}

/** A plain `Error` with a status. */
export function transportError(
  message: string,
  facts: { readonly name?: string; readonly status: number; readonly code?: string | number },
): AgentTransportError {
  const error = Object.assign(new Error(message), {
    status: facts.status,
    ...(facts.code !== undefined && { code: facts.code }),
  });
  if (facts.name !== undefined && facts.name !== "Error")
    Object.defineProperty(error, "name", { value: facts.name, configurable: true, writable: true });
  return error;
}
