import { suggest } from "../../cassette/nearest.ts";
import { OptionInvalid } from "../../errors.ts";
import { readScriptGate, type ScriptGate } from "../../trace-gate.ts";
import type { JsonRpcRequest } from "./json-rpc.ts";

/** A notification of the server's in a script: a method and what goes with it. */
export interface ScriptedNotification {
  readonly method: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly jsonrpc?: "2.0";
}

interface Notifying {
  /**
   * Handed to the client before the answer, each in a turn of its own. A `notifications/progress` without a
   * `progressToken` gets that of the request.
   */
  readonly notify?: readonly ScriptedNotification[];
  /**
   * Not before an event that matches has been seen, in the transport's trace or where its option `trace` points. The
   * request waits until then.
   */
  readonly after?: ScriptGate;
}

/** How a scripted request ends: exactly one of these. */
export type ScriptedOutcome = Notifying &
  (
    | {
        /**
         * A result of the server's. Where the request is of the modern era, what the protocol demands beside it is added
         * if it is absent: `resultType: "complete"`, and for what clients may cache `ttlMs: 0, cacheScope: "private"`.
         */
        readonly result: object;
      }
    | { /** Given as the result as it stands, `null` and strings included. */ readonly raw: unknown }
    | { /** A JSON-RPC error. */ readonly error: ScriptedError }
    | {
        /**
         * No answer within so many seconds: the request fails at once as it fails in the client after that time. A client
         * that probes by itself, without options to its `send`, is not answered and keeps its own time.
         */
        readonly timeout: number;
      }
    | { /** `send` rejects with it: the wire is dead, the process is gone. */ readonly throw: unknown }
  );

export interface ScriptedError {
  readonly code: number;
  readonly message?: string;
  readonly data?: unknown;
}

/** One answer of a script. `respond` is called with the request and gives any other. */
export type ScriptedAnswer =
  | ScriptedOutcome
  | (Notifying & { readonly respond: (request: JsonRpcRequest) => ScriptedOutcome | PromiseLike<ScriptedOutcome> });

const OUTCOMES = ["result", "raw", "error", "timeout", "throw", "respond"] as const;
const BESIDE = ["notify", "after"];
const KEYS: readonly string[] = [...OUTCOMES, ...BESIDE];

/** Refuses an answer that has an unknown key, no outcome or two, or an outcome of the wrong kind. `place` is for the message. */
export function checkAnswer(answer: unknown, place: string, outcomes: readonly string[] = OUTCOMES): void {
  const fault = faultOf(answer, outcomes);
  if (fault !== undefined) throw new OptionInvalid(`${place} ${fault}`, { place });
  const { notify = [], after } = answer as Notifying;
  readScriptGate(after, place);
  for (const [i, one] of notify.entries()) checkNotification(one, `notify[${i}] of ${place}`);
}

/** Refuses what is no notification. */
export function checkNotification(notification: unknown, place: string): void {
  if (isObject(notification) && typeof notification.method === "string" && notification.id === undefined) return;
  throw new OptionInvalid(
    `${place} is no notification: that is an object with a method and no id, as { method: "notifications/message", params: {} }.`,
    { place },
  );
}

function faultOf(answer: unknown, outcomes: readonly string[]): string | undefined {
  if (!isObject(answer)) return `is ${nameOf(answer)}; an answer is an object, as { result: {} }.`;
  const known = KEYS.filter((key) => BESIDE.includes(key) || outcomes.includes(key));
  const unknown = unknownKey(answer, known);
  if (unknown !== undefined) return `has ${unknown}`;
  const [outcome, second] = Object.keys(answer).filter((key) => !BESIDE.includes(key));
  if (outcome === undefined) return `has no outcome; exactly one of ${outcomes.join(", ")} is needed.`;
  if (second !== undefined) return `has more than one outcome, ${outcome} and ${second}; exactly one is needed.`;
  if ("notify" in answer && !Array.isArray(answer.notify))
    return `has a notify that is ${nameOf(answer.notify)}; it is a list of notifications.`;
  const value = answer[outcome];
  if (outcome === "raw" && value === undefined)
    return "has a raw that is undefined, which JSON does not have; null is.";
  if (outcome === "result" && !isObject(value))
    return `has a result that is ${nameOf(value)}; use raw for what is no object.`;
  if (outcome === "timeout" && !(typeof value === "number" && value >= 0))
    return `has a timeout that is ${nameOf(value)}; it is a number of seconds.`;
  if (outcome === "respond" && typeof value !== "function")
    return `has a respond that is ${nameOf(value)}; it is a function of the request.`;
  return outcome === "error" ? faultOfError(value) : undefined;
}

function faultOfError(error: unknown): string | undefined {
  if (!isObject(error) || !Number.isInteger(error.code))
    return "has an error without an integer code; it is { code, message?, data? }.";
  const unknown = unknownKey(error, ["code", "message", "data"]);
  return unknown && `has an error with ${unknown}`;
}

function unknownKey(value: object, known: readonly string[]): string | undefined {
  const key = Object.keys(value).find((one) => !known.includes(one));
  return key === undefined ? undefined : `the unknown key ${JSON.stringify(key)}${suggest(key, known, "known are")}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `${typeof value} ${String(value)}`;
}
