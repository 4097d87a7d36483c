import type { Headers as StoredHeaders } from "../../cassette/schema.ts";
import { encodeUtf8 } from "../../wire/bytes.ts";
import type { HttpRequest } from "./request.ts";

/** The arguments of a `fetch` call. */
export type FetchInput = string | URL | Request;

/** The signal that governs a call. */
export function signalOf(input: FetchInput, init: RequestInit | undefined): AbortSignal | undefined {
  return init?.signal ?? (input instanceof Request ? input.signal : undefined) ?? undefined;
}

/** Whether a value is still to come. */
export function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/**
 * Reads what a `fetch` call asks for, its body included: at once where the body is text or bytes, so that the request
 * keeps its place without a wait. What `fetch` refuses is refused here with the platform's own error.
 */
export function readRequest(input: FetchInput, init: RequestInit | undefined): HttpRequest | Promise<HttpRequest> {
  const body = init?.body;
  if (input instanceof Request || !isPlain(body)) return readWhole(input, init);
  const url = absolute(input);
  const method = normalMethod(init?.method ?? "GET");
  // The platform's own error for a URL that is none, for a method that it refuses, and for a GET with a body.
  if (url === undefined || !/^(?!CONNECT$|TRACE$|TRACK$)[\w!#$%&'*+.^`|~-]+$/i.test(method))
    return readWhole(input, init);
  if (body != null && (method === "GET" || method === "HEAD")) return readWhole(input, init);
  const headers = listHeaders(init?.headers);
  if (headers === undefined || headers.some(isRefused)) return readWhole(input, init);
  const type =
    body instanceof URLSearchParams ? "application/x-www-form-urlencoded;charset=UTF-8" : "text/plain;charset=UTF-8";
  const typed =
    body == null || ArrayBuffer.isView(body) || headers.some(([name]) => name.toLowerCase() === "content-type");
  return { method, url, headers: typed ? headers : [...headers, ["content-type", type]], body: plainBytes(body) };
}

async function readWhole(input: FetchInput, init: RequestInit | undefined): Promise<HttpRequest> {
  const request = new Request(input, init);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return { method: request.method, url: withoutFragment(request.url), headers: [...request.headers], body };
}

type PlainBody = string | URLSearchParams | ArrayBufferView | null | undefined;

function isPlain(body: BodyInit | null | undefined): body is PlainBody & BodyInit {
  return body == null || typeof body === "string" || body instanceof URLSearchParams || ArrayBuffer.isView(body);
}

/** The bytes of a body that is text or bytes; a copy. `undefined` for no body. */
export function plainBytes(body: PlainBody): Uint8Array | undefined {
  if (body == null) return undefined;
  if (typeof body === "string") return encodeUtf8(body);
  if (body instanceof URLSearchParams) return encodeUtf8(body.toString());
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
}

function absolute(input: string | URL): string | undefined {
  try {
    const { href, username, password } = new URL(input);
    return username === "" && password === "" ? withoutFragment(href) : undefined; // fetch takes no credentials in it
  } catch {
    return undefined; // the caller lets the platform say so
  }
}

/** A URL as it goes out: the fragment never does. */
export function withoutFragment(url: string): string {
  const hash = url.indexOf("#");
  return hash < 0 ? url : url.slice(0, hash);
}

// https://fetch.spec.whatwg.org/#concept-method-normalize: these and no others
function normalMethod(method: string): string {
  const upper = method.toUpperCase();
  return /^(DELETE|GET|HEAD|OPTIONS|POST|PUT)$/.test(upper) ? upper : method;
}

// A name that is no token, or a value that cannot go over the wire: the platform's own error says which.
function isRefused([name, value]: readonly [string, string]): boolean {
  return !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\xff]/.test(String(value).trim());
}

function listHeaders(headers: HeadersInit | undefined): StoredHeaders | undefined {
  if (headers === undefined) return [];
  if (headers instanceof Headers) return [...headers];
  if (Array.isArray(headers))
    return headers.every((pair) => pair.length === 2) ? (headers as [string, string][]) : undefined;
  if (Symbol.iterator in headers) return [...new Headers(headers as never)];
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}
