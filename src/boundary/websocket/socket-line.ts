/** What a socket hears of its connection. */
export interface SocketEars {
  /** It is open. `protocol`: the subprotocol that the server chose; empty: none. */
  opened(protocol: string): void;
  /** A message: a text, or bytes in memory of their own. */
  message(data: string | Uint8Array): void;
  /** It broke, or never opened; the close comes next. */
  broke(error: unknown): void;
  /** It is over. `code` 1006: it went away without a word. */
  closed(code: number, reason: string): void;
}

/** The connection behind a socket: a real one that is recorded, or a recorded one. */
export interface SocketLine {
  /** Sends a message. Throws what the recording does not allow. */
  send(data: string | Uint8Array): void;
  /** Begins the closing handshake, or gives an opening up. */
  close(code: number | undefined, reason: string): void;
  /** Goes away without a handshake. */
  terminate(): void;
  /** Bytes that wait to be sent. */
  readonly buffered: number;
  /** Extensions that were agreed on, as the platform names them. */
  readonly extensions: string;
}

/** Opens a connection. Ears are told everything in later turns of the event loop. */
export type OpenLine = (ears: SocketEars) => SocketLine;
