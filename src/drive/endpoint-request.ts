import { closest } from "fastest-levenshtein";
import { OptionInvalid } from "../errors.ts";
import { type CompiledPattern, compileGate, type TracePattern } from "../pattern.ts";

/** A chat message that comes in. */
export interface EndpointMessage {
  /** Default `user`. */
  readonly role?: string;
  readonly content: unknown;
  readonly [key: string]: unknown;
}

/** One request of the script. */
export interface EndpointRequestScript {
  /** The model that it is for: it waits until an agent subscribes under this name. */
  readonly model: string;
  readonly messages: readonly EndpointMessage[];
  /** The tools that the caller offers, passed on as they are. */
  readonly tools?: readonly unknown[];
  /** Generation parameters, opaque; the agent gets them as a JSON text. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Whether the caller asked for a stream; told to the agent, and the reply is drained either way. Default false. */
  readonly stream?: boolean;
  /** Not before an event that matches has been seen, at any point of the run. Absent or `"start"`: at once. */
  readonly after?: "start" | TracePattern;
  /** A label for the session, for the trace and the reply; the session itself has an id that is made up. */
  readonly sessionId?: string;
  /** Ends the session before the reply ends: in good order, or broken off, after so many deltas (0: before the first). */
  readonly sessionEnd?: { readonly close: number } | { readonly abort: number };
}

/** A request that was read: what is absent has its default, and the gate is compiled. */
export interface ReadRequest {
  readonly number: number;
  readonly model: string;
  readonly messages: readonly (EndpointMessage & { readonly role: string })[];
  readonly tools: readonly unknown[];
  readonly params: string;
  readonly stream: boolean;
  readonly gate: CompiledPattern | undefined;
  readonly label: string | undefined;
  readonly end: { readonly how: "close" | "abort"; readonly after: number } | undefined;
}

const KEYS = ["model", "messages", "tools", "params", "stream", "after", "sessionId", "sessionEnd"] as const;

/** Reads the requests of a script. `OptionInvalid` with everything that is wrong. `spell`: how the script writes a key. */
export function readRequests(requests: unknown, spell: (key: string) => string = (key) => key): ReadRequest[] {
  const faults: string[] = [];
  if (!Array.isArray(requests)) throw wrong([`${spell("requests")} is a list of requests; got ${typeof requests}`]);
  const read = requests.map((request: unknown, index) => readRequest(request, index + 1, spell, faults));
  if (faults.length > 0) throw wrong(faults);
  return read as ReadRequest[];
}

function wrong(faults: readonly string[]): OptionInvalid {
  return new OptionInvalid(`The endpoint's script is wrong: ${faults.join("; ")}.`, { faults });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readRequest(
  value: unknown,
  number: number,
  spell: (key: string) => string,
  faults: string[],
): ReadRequest | undefined {
  const fault = (message: string): void => void faults.push(`request ${number}: ${message}`);
  if (!isObject(value)) {
    fault(`it is an object such as { model: "gpt-4o", messages: [{ content: "hi" }] }; got ${typeof value}`);
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (!KEYS.includes(key as (typeof KEYS)[number]))
      fault(`there is no ${spell(key)}; the nearest is ${spell(closest(key, KEYS))}`);
  }
  const { model, messages, tools = [], params = {}, stream = false, after, sessionId, sessionEnd } = value;
  if (typeof model !== "string" || model === "") fault("model is the name that an agent subscribes to, and is missing");
  if (!Array.isArray(messages) || messages.length === 0) fault("messages is a list with a message at least");
  for (const [index, message] of Array.isArray(messages) ? messages.entries() : []) {
    if (!isObject(message) || message["content"] === undefined) fault(`message ${index + 1} has no content`);
    else if (message["role"] !== undefined && typeof message["role"] !== "string")
      fault(`the role of message ${index + 1} is a text`);
  }
  if (!Array.isArray(tools)) fault("tools is a list");
  if (!isObject(params)) fault("params is an object");
  if (typeof stream !== "boolean") fault("stream is true or false");
  if (sessionId !== undefined && typeof sessionId !== "string") fault(`${spell("sessionId")} is a text`);
  const gate = readGate(after, fault);
  return {
    number,
    model: model as string,
    messages: Array.isArray(messages)
      ? messages.map((message) => ({ role: "user", ...(message as EndpointMessage) }))
      : [],
    tools: tools as unknown[],
    params: JSON.stringify(params),
    stream: stream === true,
    gate,
    label: sessionId as string | undefined,
    end: readEnd(sessionEnd, spell, fault),
  };
}

function readGate(after: unknown, fault: (message: string) => void): CompiledPattern | undefined {
  if (after === undefined || after === "start") return undefined;
  if (!isObject(after)) {
    fault(`after is "start" or a pattern such as { kind: "call", op: "chat" }; got ${JSON.stringify(after)}`);
    return undefined;
  }
  try {
    return compileGate(after as TracePattern, "after");
  } catch (error) {
    if (!(error instanceof OptionInvalid)) throw error;
    fault(error.message.replace(/\.$/, ""));
    return undefined;
  }
}

function readEnd(value: unknown, spell: (key: string) => string, fault: (message: string) => void): ReadRequest["end"] {
  if (value === undefined) return undefined;
  const [[how, after] = [], ...more] = isObject(value) ? Object.entries(value) : [];
  const counts = Number.isInteger(after) && (after as number) >= 0;
  if (more.length > 0 || (how !== "close" && how !== "abort") || !counts) {
    fault(`${spell("sessionEnd")} is { close: N } or { abort: N }, N deltas from 0; got ${JSON.stringify(value)}`);
    return undefined;
  }
  return { how, after: after as number };
}
