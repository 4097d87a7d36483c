import type { WebSocketTrack } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import { recordDuplex } from "../../engine/duplex-record.ts";
import type { Recording } from "../../engine/recorder.ts";
import { encodeUtf8 } from "../../wire/bytes.ts";
import { parseUrl } from "../../wire/url-facets.ts";
import type { SocketEars, SocketLine } from "./socket-line.ts";
import { type SocketRequest, socketMessages, socketRequests } from "./socket-requests.ts";

/** What is used of a real WebSocket: the part that browsers, Node and the package `ws` have in common. */
export interface RealSocket {
  binaryType: string;
  readonly protocol: string;
  readonly extensions: string;
  readonly bufferedAmount: number;
  addEventListener(type: string, listener: (event: never) => void): void;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
  terminate?(): void;
}

/** Records a real connection. What the program is told, it is told when it comes. */
export function recordSocket(
  recording: Recording,
  request: SocketRequest,
  real: RealSocket,
  ears: SocketEars,
): SocketLine {
  const { url, protocols } = request;
  const open = (protocol = ""): WebSocketTrack["open"] => ({
    url,
    ...(protocols.length > 0 && { protocols: [...protocols] }),
    ...(protocol !== "" && { protocol }),
  });
  // What the server does may be the effect of requests that go to the same place over HTTP.
  const origin = parseUrl(url.replace(/^ws/, "http"))?.origin ?? "";
  const track = recordDuplex(recording, socketMessages, open(), socketRequests.event(request), origin);
  let opened = false;
  let broken: unknown;

  real.binaryType = "arraybuffer";
  real.addEventListener("open", () => {
    opened = true;
    track.opened(open(real.protocol));
    ears.opened(real.protocol);
  });
  real.addEventListener("message", ({ data }: { data: string | ArrayBuffer }) => {
    const bytes = typeof data === "string" ? encodeUtf8(data) : new Uint8Array(data.slice(0));
    track.received("server", bytes, typeof data !== "string");
    ears.message(typeof data === "string" ? data : bytes);
  });
  real.addEventListener("error", (event: { error?: unknown; message?: string }) => {
    broken = event.error ?? new Error(event.message || "the connection failed");
    ears.broke(broken);
  });
  real.addEventListener("close", ({ code, reason }: { code: number; reason: string }) => {
    const error = broken === undefined ? undefined : errorToStored(broken);
    if (!opened) track.refused(error ?? { name: "Error", message: `closed before it was open, with code ${code}` });
    else track.closed({ code, ...(reason !== "" && { reason }) }, error);
    ears.closed(code, reason);
  });

  return {
    send(data) {
      track.sent(typeof data === "string" ? encodeUtf8(data) : data, typeof data !== "string");
      real.send(data);
    },
    close(code, reason) {
      track.called("close");
      if (code === undefined) real.close();
      else real.close(code, reason);
    },
    terminate() {
      track.called("close");
      if (real.terminate === undefined) real.close();
      else real.terminate();
    },
    get buffered() {
      return real.bufferedAmount;
    },
    get extensions() {
      return real.extensions;
    },
  };
}
