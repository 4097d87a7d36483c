import { bodyBytes } from "../../cassette/frames.ts";
import { pseudonymClass } from "../../cassette/redact/pseudonyms.ts";
import type { Redactor } from "../../cassette/redact/redactor.ts";
import type { Headers, HttpTrack, Json } from "../../cassette/schema.ts";
import type { Facets } from "../../engine/identity.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import { decodeLatin1, decodeUtf8 } from "../../wire/bytes.ts";
import { sha256Base64url } from "../../wire/digest.ts";
import { parseJsonTree } from "../../wire/json.ts";
import { parseUrl, urlFacets, valuesByName } from "../../wire/url-facets.ts";
import { withoutOwnIds } from "./rpc-body.ts";

/** An HTTP request, read: what is compared and what is recorded. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, without fragment. */
  readonly url: string;
  readonly headers: Headers;
  /** `undefined`: no body. */
  readonly body: Uint8Array | undefined;
}

/** The requests of the HTTP boundaries. */
export const httpRequests: RequestKind<HttpRequest> = {
  kind: "http",
  boundary: "http",
  redact: (redactor: Redactor, request) => redactor.request(request),
  facets: httpFacets,
  recorded: (track, file) => {
    const { request } = track as HttpTrack;
    return {
      method: request.method,
      url: request.url,
      headers: request.headers ?? [],
      body: request.body === undefined ? undefined : bodyBytes(request.body, request.style, file),
    };
  },
  parts: ({ method, url }) => ({ method, url }),
  bucket: ({ method = "", url = "" }) => `${method} ${originAndPath(pseudonymClass(url))}`,
  // Headers may count (match.include), and then more has to be looked at than this.
  alike: (a, b) => a.url === b.url && a.method === b.method && a.body === undefined && b.body === undefined,
  describe: ({ method, url }) => `${method} ${url}`,
  event: ({ method, url }) => ({ kind: "request", boundary: "http", method, url }),
};

/** What of an HTTP request is compared. */
function httpFacets(request: HttpRequest, include: readonly string[]): Facets {
  const { method, url, headers, body } = request;
  const facets: Record<string, Json> = { method, ...urlFacets(url) };
  for (const pointer of include) {
    const name = /^\/headers\/(.+)$/.exec(pointer)?.[1]?.toLowerCase();
    if (name === undefined) continue;
    const values = headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
    const named = (facets.headers ??= {}) as Record<string, Json>;
    if (values.length > 0) named[name] = values;
  }
  if (body !== undefined && body.length > 0) {
    const type = headers.find(([key]) => key.toLowerCase() === "content-type")?.[1] ?? "";
    facets.body = bodyFacet(body, type);
  }
  return facets;
}

function bodyFacet(body: Uint8Array, type: string): Json {
  const first = body[0] as number;
  // `{`, `[`, `"`, white space before one of them, or what says that it is JSON
  if (first === 0x7b || first === 0x5b || first <= 0x20 || /[/+]json\b/i.test(type)) {
    const text = decodeUtf8(body);
    const tree = text === undefined ? undefined : parseJsonTree(text);
    if (tree !== undefined) return withoutOwnIds(tree);
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return { form: valuesByName(new URLSearchParams(decodeLatin1(body))) };
  const boundary = /^multipart\/[^;]+;.*\bboundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
  if (boundary !== null) {
    const parts = multipartFacet(body, (boundary[1] ?? boundary[2]) as string);
    if (parts !== undefined) return { parts };
  }
  return { sha256: sha256Base64url(body) };
}

// The parts without the boundary, which a client makes up anew for every request.
function multipartFacet(body: Uint8Array, boundary: string): Json[] | undefined {
  const pieces = `\r\n${decodeLatin1(body)}`.split(`\r\n--${boundary}`);
  if (pieces.length < 2 || pieces[0] !== "" || !/^--\s*$/.test(pieces.at(-1) as string)) return undefined;
  return pieces.slice(1, -1).map((piece) => {
    const split = piece.indexOf("\r\n\r\n");
    const head = split < 0 ? piece : piece.slice(0, split);
    const headers = head
      .split("\r\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
      .sort();
    return { headers, content: split < 0 ? "" : piece.slice(split + 4) };
  });
}

// The ordinary spelling of a URL, in which origin and path are what stands before "?" and "#".
const PLAIN =
  /^https?:\/\/[a-z0-9.-]+(?::(?!80\/|443\/)\d+)?\/(?!\.)(?:[\w\-~!$&'()*+,;=:@/]|\.(?![./])|%[0-9A-F]{2})*(?=[?#]|$)/;

function originAndPath(url: string): string {
  const plain = PLAIN.exec(url);
  if (plain !== null && !plain[0].includes("/.")) return plain[0];
  const parsed = parseUrl(url);
  return parsed === undefined ? url : parsed.origin + parsed.pathname;
}
