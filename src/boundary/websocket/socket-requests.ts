import { pseudonymClass } from "../../cassette/redact/pseudonyms.ts";
import type { WebSocketTrack } from "../../cassette/schema.ts";
import type { DuplexKind } from "../../engine/duplex-kind.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import { urlFacets } from "../../wire/url-facets.ts";

/** The opening of a WebSocket: what is compared to find its track. */
export interface SocketRequest {
  /** Absolute, as the platform prints it. */
  readonly url: string;
  /** The subprotocols that are asked for, in order. */
  readonly protocols: readonly string[];
}

/** The openings of the WebSocket boundary. */
export const socketRequests: RequestKind<SocketRequest> = {
  kind: "websocket",
  boundary: "websocket",
  redact: (redactor, request) => {
    const { url } = redactor.request({ method: "GET", url: request.url, headers: [] });
    return { ...request, url };
  },
  facets: ({ url, protocols }) => ({ ...urlFacets(url), ...(protocols.length > 0 && { protocols }) }),
  recorded: (track) => {
    const { url, protocols = [] } = (track as WebSocketTrack).open;
    return { url, protocols };
  },
  parts: ({ url }) => ({ url }),
  bucket: ({ url = "" }) => pseudonymClass(url).replace(/[?#].*$/s, ""),
  alike: (a, b) => a.url === b.url && a.protocols.join() === b.protocols.join(),
  describe: ({ url }) => `WebSocket ${url}`,
  event: ({ url }) => ({ kind: "request", boundary: "websocket", url }),
};

/** The messages of a WebSocket: each counts, in the order in which they are sent. */
export const socketMessages: DuplexKind = {
  kind: "websocket",
  boundary: "websocket",
  client: "client",
  unit: "message",
  order: "sequence",
  event: (message) => {
    const type = typeof message === "object" && message !== null ? (message as { type?: unknown }).type : undefined;
    return typeof type === "string" ? { type } : {};
  },
};
