import type { Gate, StoredError, Track, TrackKind } from "../cassette/schema.ts";
import { gatesOf } from "../engine/map-gates.ts";
import { frameSize, framesOf } from "./frame-content.ts";

/** What one line says of a track. */
export interface TrackFacts {
  readonly id: string;
  readonly kind: TrackKind;
  /** Absent: the main lane. */
  readonly lane?: string;
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly what: string;
  /** How it went. */
  readonly status: string;
  /** Of the answer, or of both sides of a conversation. */
  readonly frames: number;
  readonly bytes: number;
  /** What holds its deliveries, each once. */
  readonly gates: readonly string[];
  readonly repeat?: number | "forever";
  readonly optional?: true;
  readonly note?: string;
}

export function trackFacts(track: Track): TrackFacts {
  const { id, kind, lane, at = 0, repeat, optional, note } = track;
  const { frames, style } = framesOf(track);
  return {
    id,
    kind,
    ...(lane !== undefined && { lane }),
    at,
    what: whatOf(track),
    status: statusOf(track),
    frames: frames.length,
    bytes: frames.reduce((sum, frame) => sum + (frameSize(frame, style) ?? 0), 0),
    gates: [...new Set(gatesOf(track).map(gateText))],
    ...(repeat !== undefined && { repeat }),
    ...(optional !== undefined && { optional }),
    ...(note !== undefined && { note }),
  };
}

/** A gate for people: `t2`, `t2, t3`, or a pattern as JSON. */
export function gateText(gate: Gate): string {
  if (typeof gate === "string") return gate;
  return Array.isArray(gate) ? gate.join(", ") : JSON.stringify(gate);
}

/** An error with its causes: `TypeError: terminated ← SocketError: other side closed (UND_ERR_SOCKET)`. */
export function errorText({ name, message, code, cause }: StoredError): string {
  const own = `${name}: ${message}${code === undefined ? "" : ` (${code})`}`;
  return cause === undefined ? own : `${own} ← ${errorText(cause)}`;
}

function whatOf(track: Track): string {
  switch (track.kind) {
    case "http":
      return `${track.request.method} ${track.request.url}`;
    case "websocket":
      return track.open.url;
    case "process":
      return [track.open.command, ...(track.open.argv ?? [])].join(" ");
    case "mcp":
      return track.open?.url ?? [track.open?.command, ...(track.open?.argv ?? [])].filter(Boolean).join(" ");
    default:
      return track.call.thread === undefined ? track.call.name : `${track.call.name} (${track.call.thread})`;
  }
}

function statusOf(track: Track): string {
  const parts = [...outcomes(track)];
  return parts.length === 0 ? "open" : parts.join(", ");
}

function* outcomes(track: Track): Generator<string> {
  if (track.kind === "http") {
    if (track.response !== undefined) yield String(track.response.status);
    yield* failure(track.fault);
    yield* endings(track.response?.end ?? track.end);
  } else if ("call" in track) {
    if (track.result !== undefined) yield "result";
    else if (track.events !== undefined) yield "streamed";
    yield* failure(track.error);
    yield* endings(track.end);
  } else {
    const { close } = track;
    if (close !== undefined) yield closeText(close);
    yield* failure(track.fault);
    yield* endings(track.end);
  }
}

function closeText(close: object): string {
  const { code, signal } = close as { code?: number | null; signal?: string | null };
  if (signal !== undefined && signal !== null) return signal;
  return code === undefined || code === null ? "closed" : `closed ${code}`;
}

function* failure(error: StoredError | undefined): Generator<string> {
  if (error !== undefined) yield codeOf(error);
}

function* endings(end: Track["end"]): Generator<string> {
  if (end?.by === "client") yield "left by client";
  if (end?.error !== undefined) yield `broke: ${codeOf(end.error)}`;
}

/** The most telling name of an error: the innermost code, else its name. */
function codeOf(error: StoredError): string {
  let code: string | undefined;
  for (let at: StoredError | undefined = error; at !== undefined; at = at.cause)
    code = at.code === undefined ? code : String(at.code);
  return code ?? error.name;
}
