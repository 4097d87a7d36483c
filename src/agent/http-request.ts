import { isWiretapeError, OptionInvalid } from "../errors.ts";
import { errorFrom, transportError } from "./http-error.ts";
import { type AgentRouteName, agentRoutes, type RouteParams, routePath } from "./routes.ts";

/** Headers for every request; a function is asked before each of them, so that a token may be fresh. */
export type HttpHeaders = HeadersInit | (() => HeadersInit | Promise<HeadersInit>);

export interface HttpPlace {
  readonly baseUrl: string | URL;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly headers?: HttpHeaders | undefined;
}

/** What a request carries beside its path. */
export interface HttpExtras {
  readonly query?: Readonly<Record<string, string>>;
  /** A JSON body. */
  readonly json?: unknown;
  /** A body as it is. */
  readonly body?: Blob;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** An answer and the request that it answers, as `METHOD /path`, for messages. */
export interface HttpAnswer {
  readonly response: Response;
  readonly request: string;
}

/** Makes the request of a route. Rejects where there is no answer, and for an answer that is an error. */
export type HttpRequester = <Name extends AgentRouteName>(
  route: Name,
  params: RouteParams<Name>,
  extras?: HttpExtras,
) => Promise<HttpAnswer>;

/** Requests of one place, each with fresh headers. */
export function createHttpRequester(place: HttpPlace): HttpRequester {
  const base = checkBase(place.baseUrl);
  // Looked up at each request, so that a fetch that is put in its place later is used; and never called as a method.
  const fetch: typeof globalThis.fetch = place.fetch ?? ((input, init) => globalThis.fetch(input, init));

  return async (route, params, extras = {}) => {
    const path = routePath(route, params);
    const { method } = agentRoutes[route];
    const request = `${method} ${path}`;
    const given = typeof place.headers === "function" ? await place.headers() : place.headers;
    const headers = new Headers(given);
    headers.set("accept", extras.accept ?? "application/json");
    let body: BodyInit | undefined = extras.body;
    if (body !== undefined) headers.set("content-type", "application/octet-stream");
    else if (extras.json !== undefined) {
      body = JSON.stringify(extras.json);
      headers.set("content-type", "application/json");
    }
    const query = extras.query === undefined ? "" : `?${new URLSearchParams(extras.query)}`;
    let response: Response;
    try {
      response = await fetch(base + path + query, {
        method,
        headers,
        ...(body !== undefined && { body }),
        ...(extras.signal !== undefined && { signal: extras.signal }),
      });
    } catch (error) {
      throw noAnswer(request, base, error);
    }
    if (!response.ok) throw await answeredError(request, response);
    return { response, request };
  };
}

function checkBase(baseUrl: unknown): string {
  const text = baseUrl instanceof URL ? baseUrl.href : baseUrl;
  if (typeof text !== "string" || /[?#]/.test(text)) {
    const message = `"baseUrl" must be the URL under which the routes lie, without query and fragment, as serveAgentTransport gives it.`;
    throw new OptionInvalid(message, { option: "baseUrl" });
  }
  return text.replace(/\/+$/, "");
}

// What the tape says is said as it is: a violation keeps its class, its code and its message.
function noAnswer(request: string, base: string, error: unknown): unknown {
  if (isWiretapeError(error) || (error as { name?: unknown } | null)?.name === "AbortError") return error;
  const cause = (error as { cause?: { code?: unknown } } | null)?.cause;
  const why = typeof cause?.code === "string" ? cause.code : error instanceof Error ? error.message : String(error);
  return new Error(`${request} got no answer from ${base}: ${why}.`, { cause: error });
}

async function answeredError(request: string, response: Response): Promise<Error> {
  const text = await response.text();
  const told = errorFrom(parseJson(text), response.status);
  if (told !== undefined) return told;
  const { status } = response;
  const message = `${request} was answered with ${answer(response)}, and not by an agent server${excerpt(text)}`;
  return transportError(message, { status });
}

/** Reads an answer's JSON. */
export async function readJson<V>({ response, request }: HttpAnswer): Promise<V> {
  const text = await response.text();
  const value = parseJson(text);
  if (value !== undefined) return value as V;
  const message = `${request} was answered with ${answer(response)}, but its body is not JSON${excerpt(text)}`;
  throw transportError(message, { status: response.status });
}

/** Checks that an answer is an event stream, and gives its body. */
export async function eventStream({ response, request }: HttpAnswer): Promise<ReadableStream<Uint8Array>> {
  const type = response.headers.get("content-type") ?? "";
  if (/^text\/event-stream\b/i.test(type) && response.body !== null) return response.body;
  const found = type === "" ? "without a content type" : `as ${type}`;
  const message = `${request} was answered with ${answer(response)} ${found}, not with an event stream${excerpt(await response.text())}`;
  throw transportError(message, { status: response.status });
}

function answer({ status, statusText }: Response): string {
  return statusText === "" ? `HTTP ${status}` : `HTTP ${status} ${statusText}`;
}

function excerpt(text: string): string {
  const start = text.trim();
  if (start === "") return "; its body is empty. Is baseUrl right?";
  return `. Is baseUrl right? Its body begins: ${start.length > 200 ? `${start.slice(0, 200)}…` : start}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: the caller says what was there instead
  }
}
