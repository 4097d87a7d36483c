import { type Claim, type Lane, type Session, sessionOf } from "../../engine/session.ts";
import { OptionInvalid } from "../../errors.ts";
import { parseUrl } from "../../wire/url-facets.ts";
import { EmittingSocket } from "./emitting-socket.ts";
import { playSocket } from "./play-socket.ts";
import { type RealSocket, recordSocket } from "./record-socket.ts";
import type { OpenLine, SocketEars, SocketLine } from "./socket-line.ts";
import { type SocketRequest, socketRequests } from "./socket-requests.ts";

/** A WebSocket class: the platform's, undici's, or that of the package `ws`. Further arguments are its own. */
export type WebSocketClass = new (url: string, protocols?: string | string[], ...more: never[]) => object;

type AnySocketClass = new (url: string | URL, protocols?: string | readonly string[], ...more: unknown[]) => RealSocket;

/**
 * A `WebSocket` class on tape. Give it to whatever takes one, or put it in place of the global.
 *
 * Recording: connections are those of `WebSocket` (default: the platform's, where it has one; Node 20 has none: pass that
 * of `ws` or undici), and the program is told of each message when it comes. Replaying: the recorded messages, texts as
 * texts and bytes as bytes, each in a turn of the event loop of its own and when the messages that the program had sent
 * before it have come; the recorded close code and reason; no socket is opened and `WebSocket` is not needed. A connection
 * that was not recorded throws from `new`; a message that differs throws `FrameMismatch` from `send`, and one too many
 * `ScriptExhausted`; both stay on the deck. URL and subprotocols count, then each message in its order.
 */
export function tapeWebSocket<C extends WebSocketClass = typeof globalThis.WebSocket>(deck: Lane, WebSocket?: C): C {
  const session = sessionOf(deck);
  const Real = (WebSocket ?? (globalThis as { WebSocket?: unknown }).WebSocket) as AnySocketClass | undefined;
  if (session.mode === "live") return real(Real) as unknown as C;

  class WebSocketOnTape extends EmittingSocket {
    constructor(...given: [url: string | URL, protocols?: string | readonly string[], ...more: unknown[]]) {
      const request = readRequest(given[0], given[1]);
      super(
        request,
        openLine(session, request, () => new (real(Real))(...given)),
      );
      // The package `ws` hands out Buffers where nobody says otherwise, and so does what stands in for it.
      const { on } = (Real?.prototype ?? {}) as { on?: unknown };
      if (typeof on === "function") this.binaryType = "nodebuffer";
    }
  }
  Object.defineProperty(WebSocketOnTape, "name", { value: "WebSocket" });
  return WebSocketOnTape as unknown as C;
}

function openLine(session: Session, request: SocketRequest, connect: () => RealSocket): OpenLine {
  return (ears) => {
    const claim = session.admit().claim(socketRequests, request);
    // Nothing of an opening has to be read first; it only waits where a request before it is still being read.
    return claim instanceof Promise ? lateLine(claim, ears, (late) => become(late, ears)) : become(claim, ears);
  };

  function become(claim: Claim, ears: SocketEars): SocketLine {
    if ("play" in claim) return playSocket(claim.play, ears);
    let socket: RealSocket;
    try {
      socket = connect();
    } catch (error) {
      claim.record.drop(); // refused by the class itself: nothing went out
      throw error;
    }
    return recordSocket(claim.record, request, socket, ears);
  }
}

/** A line that is not known yet. Until it is, nothing can be sent: the socket is still connecting. */
function lateLine(claim: Promise<Claim>, ears: SocketEars, become: (claim: Claim) => SocketLine): SocketLine {
  let line: SocketLine | undefined;
  let leave: ((line: SocketLine) => void) | undefined;
  claim.then(
    (known) => {
      line = become(known);
      leave?.(line);
    },
    (error: unknown) => {
      ears.broke(error);
      ears.closed(1006, "");
    },
  );
  return {
    send: (data) => line?.send(data),
    close(code, reason) {
      if (line === undefined) leave = (known) => known.close(code, reason);
      else line.close(code, reason);
    },
    terminate() {
      if (line === undefined) leave = (known) => known.terminate();
      else line.terminate();
    },
    get buffered() {
      return line?.buffered ?? 0;
    },
    get extensions() {
      return line?.extensions ?? "";
    },
  };
}

function real(Real: AnySocketClass | undefined): AnySocketClass {
  if (typeof Real === "function") return Real;
  throw new OptionInvalid(
    "There is no WebSocket class to connect with: this platform has none of its own.\n  next      pass one: tapeWebSocket(deck, WebSocket), with the WebSocket of the package ws or of undici; a replay needs none",
  );
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

function readRequest(given: string | URL, asked: string | readonly string[] | undefined): SocketRequest {
  const url = parseUrl(String(given));
  if (url === undefined) throw syntax(`${JSON.stringify(String(given))} is no absolute URL`);
  url.protocol = url.protocol.replace(/^http/, "ws");
  if (url.protocol !== "ws:" && url.protocol !== "wss:")
    throw syntax(`a WebSocket's URL begins with ws: or wss:, not ${url.protocol}`);
  if (url.hash !== "") throw syntax("a WebSocket's URL has no fragment");
  const protocols = asked === undefined || typeof asked === "object" ? [...listOf(asked)] : [asked];
  for (const [index, protocol] of protocols.entries()) {
    if (!TOKEN.test(protocol)) throw syntax(`${JSON.stringify(protocol)} is no name of a subprotocol`);
    if (protocols.indexOf(protocol) !== index) throw syntax(`the subprotocol ${protocol} is asked for twice`);
  }
  return { url: url.href, protocols };
}

// The package `ws` takes its options in the second place as well.
function listOf(asked: unknown): readonly string[] {
  return Array.isArray(asked) ? (asked as readonly string[]) : [];
}

function syntax(message: string): DOMException {
  return new DOMException(`new WebSocket(): ${message}`, "SyntaxError");
}
