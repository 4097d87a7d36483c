import type { DuplexDraft, SentChunk } from "../cassette/draft.ts";
import type { Gate, Json, StoredError } from "../cassette/schema.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import { parseJsonTree } from "../wire/json.ts";
import type { DuplexKind } from "./duplex-kind.ts";
import type { Recording } from "./recorder.ts";
import type { TraceEvent } from "./trace.ts";

type Outcome = Pick<DuplexDraft, "close" | "fault" | "end">;

/** How a conversation ended: a code and reason (WebSocket), an exit code or a signal (process), nothing (MCP). */
export interface DuplexClose {
  readonly code?: number | null | undefined;
  readonly reason?: string | undefined;
  readonly signal?: string | null | undefined;
}

/** What is told of a call beside its name, in the trace and in gates. */
export type CallFacts = Readonly<Record<string, string | number>>;

/** A conversation that is being recorded. The bytes that it is handed are copied. */
export interface DuplexRecording {
  /** Milliseconds since it began. */
  elapsed(): number;
  /** The opening as the track stores it, where more is known than when it began (the subprotocol that was chosen). */
  opened(open?: DuplexDraft["open"]): void;
  /** The program sends something. */
  sent(bytes: Uint8Array, binary?: boolean): void;
  /**
   * The program does something that is no frame: it ends its stream (`end`), kills, closes. What is delivered after it is
   * recorded with a gate on it, so that a replay waits for it too. `facts` say more of it: which signal.
   */
  called(name: string, facts?: CallFacts): void;
  /** The program is handed something of the other side's. */
  received(from: "server" | "stdout" | "stderr", bytes: Uint8Array, binary?: boolean): void;
  /** It ended, as `close` tells; where it broke first, `error` is what the program was told. */
  closed(close?: DuplexClose, error?: StoredError): void;
  /** It never opened. */
  refused(error: StoredError): void;
  /** It broke. */
  broke(error: StoredError): void;
  /** The program left it. */
  left(): void;
}

/**
 * Records a conversation in a track of its own. `event` is that of its opening. `origin`: what is delivered may be the
 * effect of state-changing requests made there. What is still open when the deck is finished ends by the client.
 */
export function recordDuplex(
  recording: Recording,
  kind: DuplexKind,
  open: DuplexDraft["open"],
  event: TraceEvent,
  origin = "",
): DuplexRecording {
  const { id, at, lane } = recording;
  const frames: SentChunk[] = [];
  let opening = open;
  let over = false;
  let cause: Gate | undefined;
  recording.sent(event, origin, true);
  recording.opened();
  recording.onFinish = () => settle({ end: { at: recording.elapsed(), by: "client" } });

  function settle(outcome: Outcome): void {
    if (over) return;
    over = true;
    recording.onFinish = undefined;
    const draft = { id, kind: kind.kind as DuplexDraft["kind"], at, lane, open: opening, frames, ...outcome };
    recording.settle(draft as DuplexDraft);
  }

  function delivered(told: TraceEvent): { after?: Gate } {
    const after = cause;
    cause = undefined;
    const gate = recording.delivered(told);
    const whole = after ?? gate;
    return whole === undefined ? {} : { after: whole };
  }

  function frameEvent(from: SentChunk["from"], bytes: Uint8Array, binary: boolean): TraceEvent {
    const text = kind.event === undefined || binary ? undefined : decodeUtf8(bytes);
    const message: Json | undefined = text === undefined || !/^\s*[[{]/.test(text) ? undefined : parseJsonTree(text);
    return { kind: "frame", boundary: kind.boundary, from, ...(message === undefined ? {} : kind.event?.(message)) };
  }

  return {
    elapsed: recording.elapsed,
    opened(known) {
      if (known !== undefined) opening = known;
    },
    sent(bytes, binary = false) {
      if (over) return;
      frames.push({ at: recording.elapsed(), from: kind.client, bytes: bytes.slice(), ...(binary && { binary }) });
      recording.happened(frameEvent(kind.client, bytes, binary));
    },
    called(name, facts) {
      if (over) return;
      const call = { kind: "call", boundary: kind.boundary, name, ...facts } as const;
      cause = { ...call, track: id };
      recording.happened(call);
    },
    received(from, bytes, binary = false) {
      if (over) return;
      const gate = delivered(frameEvent(from, bytes, binary));
      // The delivery settles what its millisecond is: it is asked for afterwards.
      frames.push({ at: recording.elapsed(), from, bytes: bytes.slice(), ...gate, ...(binary && { binary }) });
    },
    closed(close = {}, error) {
      if (over) return;
      const gate = delivered({ kind: "close", boundary: kind.boundary });
      const at = recording.elapsed();
      const end = error === undefined ? {} : { end: { at, error } };
      settle({ close: { at, ...gate, ...close } as DuplexDraft["close"], ...end });
    },
    refused: (error) => settle({ fault: { at: recording.elapsed(), ...error } }),
    broke(error) {
      if (over) return;
      const gate = delivered({ kind: "close", boundary: kind.boundary });
      settle({ end: { at: recording.elapsed(), ...gate, error } });
    },
    left: () => settle({ end: { at: recording.elapsed(), by: "client" } }),
  };
}
