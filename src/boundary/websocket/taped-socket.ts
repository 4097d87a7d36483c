import { encodeUtf8 } from "../../wire/bytes.ts";
import { SocketCloseEvent, SocketErrorEvent } from "./socket-events.ts";
import type { OpenLine, SocketEars, SocketLine } from "./socket-line.ts";
import type { SocketRequest } from "./socket-requests.ts";

type Message = string | ArrayBuffer | ArrayBufferView | Blob;
type Handler = ((event: never) => unknown) | null;

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
const WENT_AWAY = 1006;
const REASON_BYTES = 123;

/**
 * A WebSocket as the platform's standard describes it (https://websockets.spec.whatwg.org), over a line that is recorded
 * or played. `binaryType` may also be `nodebuffer`, as in the package `ws`: then a Node `Buffer` where there is one.
 */
export class TapedSocket extends EventTarget {
  static readonly CONNECTING = CONNECTING;
  static readonly OPEN = OPEN;
  static readonly CLOSING = CLOSING;
  static readonly CLOSED = CLOSED;
  readonly CONNECTING = CONNECTING;
  readonly OPEN = OPEN;
  readonly CLOSING = CLOSING;
  readonly CLOSED = CLOSED;
  readonly url: string;
  readonly #line: SocketLine;
  readonly #handlers = new Map<string, { handler: Handler; listener: (event: Event) => void }>();
  #state: number = CONNECTING;
  #protocol = "";
  #binaryType = "blob";
  /** Blobs are read before they are sent; what is sent after one waits for it. */
  #sending: Promise<void> | undefined;
  #reading = 0;

  constructor(request: SocketRequest, open: OpenLine) {
    super();
    this.url = request.url;
    this.#line = open(this.#ears());
  }

  get readyState(): number {
    return this.#state;
  }
  get protocol(): string {
    return this.#protocol;
  }
  get extensions(): string {
    return this.#state === CONNECTING ? "" : this.#line.extensions;
  }
  get bufferedAmount(): number {
    return this.#line.buffered + this.#reading;
  }
  get binaryType(): string {
    return this.#binaryType;
  }
  set binaryType(type: string) {
    // A value that is none is ignored, as the standard says of enumerations.
    if (["blob", "arraybuffer", "nodebuffer"].includes(type)) this.#binaryType = type;
  }

  get onopen(): Handler {
    return this.#handler("open");
  }
  set onopen(handler: Handler) {
    this.#handle("open", handler);
  }
  get onmessage(): Handler {
    return this.#handler("message");
  }
  set onmessage(handler: Handler) {
    this.#handle("message", handler);
  }
  get onerror(): Handler {
    return this.#handler("error");
  }
  set onerror(handler: Handler) {
    this.#handle("error", handler);
  }
  get onclose(): Handler {
    return this.#handler("close");
  }
  set onclose(handler: Handler) {
    this.#handle("close", handler);
  }

  /** Throws what the recording does not allow: `FrameMismatch`, `ScriptExhausted`. */
  send(data: Message): void {
    if (this.#state === CONNECTING) {
      throw new DOMException("send() was called before the connection was open", "InvalidStateError");
    }
    if (this.#state !== OPEN) return;
    if (this.#sending === undefined && !(data instanceof Blob)) {
      this.#line.send(plain(data));
      return;
    }
    const size = data instanceof Blob ? data.size : plain(data).length;
    const copy = data instanceof Blob || typeof data === "string" ? data : (plain(data) as Uint8Array).slice();
    this.#reading += size;
    const sending = (this.#sending ?? Promise.resolve()).then(async () => {
      const ready = copy instanceof Blob ? new Uint8Array(await copy.arrayBuffer()) : copy;
      this.#reading -= size;
      if (this.#state === CLOSED) return;
      try {
        this.#line.send(plain(ready));
      } catch {
        // The violation is on the deck, and the line breaks with it: nobody waits for this call any more.
      }
    });
    this.#sending = sending;
    void sending.then(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
  }

  close(code?: number, reason = ""): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new DOMException(
        `close() takes the code 1000, or one from 3000 to 4999; got ${code}`,
        "InvalidAccessError",
      );
    }
    if (encodeUtf8(reason).length > REASON_BYTES) {
      throw new DOMException(`The reason of a close is at most ${REASON_BYTES} bytes`, "SyntaxError");
    }
    if (this.#state >= CLOSING) return;
    this.#state = CLOSING;
    if (this.#sending === undefined) this.#line.close(code, reason);
    else void this.#sending.then(() => this.#line.close(code, reason));
  }

  /** Goes away without a closing handshake, as in the package `ws`. */
  terminate(): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSING;
    this.#line.terminate();
  }

  /** Told of everything that is dispatched, for other ways to listen. */
  protected heard(_type: string, ..._given: unknown[]): void {
    // nobody else listens here
  }

  #ears(): SocketEars {
    return {
      opened: (protocol) => {
        this.#protocol = protocol;
        if (this.#state !== CONNECTING) return;
        this.#state = OPEN;
        this.dispatchEvent(new Event("open"));
        this.heard("open");
      },
      message: (data) => {
        if (this.#state === CLOSED) return;
        const origin = new URL(this.url).origin;
        this.dispatchEvent(new MessageEvent("message", { data: this.#given(data), origin }));
        this.heard("message", typeof data === "string" ? encodeUtf8(data) : data, typeof data !== "string");
      },
      broke: (error) => {
        if (this.#state === CLOSED) return;
        this.dispatchEvent(new SocketErrorEvent(error));
        this.heard("error", error);
      },
      closed: (code, reason) => {
        if (this.#state === CLOSED) return;
        this.#state = CLOSED;
        this.dispatchEvent(new SocketCloseEvent({ code, reason, wasClean: code !== WENT_AWAY }));
        this.heard("close", code, encodeUtf8(reason));
      },
    };
  }

  #given(data: string | Uint8Array): unknown {
    if (typeof data === "string") return data;
    const bytes = data as Uint8Array<ArrayBuffer>;
    if (this.#binaryType === "blob") return new Blob([bytes]);
    const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
    return this.#binaryType === "nodebuffer" && typeof Buffer !== "undefined" ? Buffer.from(whole) : whole;
  }

  #handler(type: string): Handler {
    return this.#handlers.get(type)?.handler ?? null;
  }

  // A handler keeps the place among the listeners that it had when it was first set.
  #handle(type: string, handler: Handler): void {
    const known = this.#handlers.get(type);
    if (typeof handler !== "function") {
      if (known !== undefined) this.removeEventListener(type, known.listener);
      this.#handlers.delete(type);
      return;
    }
    if (known !== undefined) {
      known.handler = handler;
      return;
    }
    const entry = {
      handler: handler as Handler,
      listener: (event: Event) => entry.handler?.call(this, event as never),
    };
    this.#handlers.set(type, entry);
    this.addEventListener(type, entry.listener);
  }
}

function plain(data: Exclude<Message, Blob>): string | Uint8Array {
  if (typeof data === "string") return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return String(data);
}
