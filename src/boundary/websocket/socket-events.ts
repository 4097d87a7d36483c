/** The events of a WebSocket, where a platform does not have their classes. */

/** A connection's end, as the platform's `CloseEvent`. */
export class SocketCloseEvent extends Event {
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;

  constructor(close: { readonly code: number; readonly reason: string; readonly wasClean: boolean }) {
    super("close");
    this.code = close.code;
    this.reason = close.reason;
    this.wasClean = close.wasClean;
  }
}

/** Something broke: `error` is what, as Node's clients tell it. A browser tells nothing. */
export class SocketErrorEvent extends Event {
  readonly error: unknown;
  readonly message: string;

  constructor(error: unknown) {
    super("error");
    this.error = error;
    this.message = error instanceof Error ? error.message : String(error);
  }
}
