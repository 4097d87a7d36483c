import type { WebSocketTrack } from "../../cassette/schema.ts";
import { storedToError } from "../../cassette/stored-error.ts";
import { playDuplex } from "../../engine/duplex-play.ts";
import type { Play } from "../../engine/play.ts";
import { DeckFinished } from "../../errors.ts";
import { decodeUtf8, encodeUtf8 } from "../../wire/bytes.ts";
import type { SocketEars, SocketLine } from "./socket-line.ts";
import { socketMessages } from "./socket-requests.ts";

const WENT_AWAY = 1006;
const NO_CODE = 1005;
const TOO_EARLY = "WebSocket was closed before the connection was established";

/** Plays a recorded connection. Each thing that the program is told has a turn of the event loop of its own. */
export function playSocket(play: Play, ears: SocketEars): SocketLine {
  const duplex = playDuplex(play, socketMessages);
  const track = duplex.track as WebSocketTrack;
  // As an open connection does, it keeps the process alive.
  const endWait = play.linger();
  let over = false;
  let opened = false;
  /** The program has ended it, and what comes of that is recorded. */
  let answered = false;
  let cancel = (): void => undefined;

  void pump();

  async function pump(): Promise<void> {
    try {
      const opening = duplex.opened();
      cancel = opening.cancel;
      await opening.promise;
      if (over) return;
      if (track.fault !== undefined) {
        end(WENT_AWAY, "", storedToError(track.fault));
        return;
      }
      opened = true;
      ears.opened(track.open.protocol ?? "");
      while (!over) {
        const next = duplex.next();
        cancel = next.cancel;
        const step = await next.promise;
        if (over) return;
        if (step.type === "frame") ears.message(step.binary ? step.bytes : textOf(step.bytes));
        else if (step.type === "broke") {
          const error = storedToError(step.error);
          if (track.close === undefined) end(WENT_AWAY, "", error);
          else ears.broke(error);
        } else if (step.type === "close") end(track.close?.code ?? NO_CODE, track.close?.reason ?? "");
        else return; // nothing more comes until the program closes it, or the deck is finished
      }
    } catch (error) {
      if (!over && !(error instanceof DeckFinished)) end(WENT_AWAY, "", error);
    }
  }

  function end(code: number, reason: string, error?: unknown): void {
    if (over) return;
    over = true;
    endWait();
    if (error !== undefined) ears.broke(error);
    ears.closed(code, reason);
  }

  /** The program ends it where the recording does not say what comes of that. */
  function endLater(code: number, reason: string, error?: unknown): void {
    cancel();
    play.turn(0, "the close", undefined).promise.then(
      () => end(code, reason, error),
      () => endWait(), // the deck is finished: nobody is told any more
    );
  }

  function ended(code: number, reason: string): void {
    if (duplex.called("close")) answered = true;
    if (!opened) endLater(WENT_AWAY, "", track.fault === undefined ? new Error(TOO_EARLY) : storedToError(track.fault));
    // Else messages that were on their way when it was ended in the recording still come, and then its end.
    else if (!answered) endLater(code, reason);
  }

  return {
    send(data) {
      try {
        duplex.sent(typeof data === "string" ? encodeUtf8(data) : data, typeof data !== "string");
      } catch (error) {
        // Nothing that was recorded could still be the answer: the program is not left waiting for one.
        endLater(WENT_AWAY, "", error);
        throw error;
      }
    },
    close: (code, reason) => ended(code ?? NO_CODE, reason),
    terminate: () => ended(WENT_AWAY, ""),
    buffered: 0,
    extensions: "",
  };
}

// A text that somebody edited into what is no text is told as what a decoder makes of it.
function textOf(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? new TextDecoder().decode(bytes);
}
