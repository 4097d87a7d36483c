import { encodeContent, type ReadSidecar } from "../cassette/content.ts";
import { type FrameBytes, movedBy, type PlannedChunk, planDuplex, plannedBytes } from "../cassette/duplex-plan.ts";
import type { Frame, Json, McpTrack, ProcessTrack, StoredError, WebSocketTrack } from "../cassette/schema.ts";
import { DeckFinished } from "../errors.ts";
import { matchesEvent } from "../pattern.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import { parseJsonTree } from "../wire/json.ts";
import type { Pending } from "./deliveries.ts";
import { type ClientScript, createClientScript } from "./duplex-client.ts";
import type { DuplexKind } from "./duplex-kind.ts";
import type { CallFacts } from "./duplex-record.ts";
import { createIdLinks, withLiveIds } from "./duplex-script.ts";
import { gateIn } from "./gate.ts";
import { completed, type Play } from "./play.ts";
import type { TraceEvent } from "./trace.ts";

/** A conversation at rest. */
export type DuplexTrack = WebSocketTrack | ProcessTrack | McpTrack;

/** What the program is handed next. */
export type DuplexStep =
  /** A chunk of the other side's, in memory of its own. */
  | {
      readonly type: "frame";
      readonly from: "server" | "stdout" | "stderr";
      readonly bytes: Uint8Array;
      readonly binary: boolean;
    }
  /** It ended as `track.close` says. */
  | { readonly type: "close" }
  /** It broke. The close comes next, where one was recorded. */
  | { readonly type: "broke"; readonly error: StoredError }
  /** Nothing more was recorded: it stays open until the program ends it, as it did. */
  | { readonly type: "open" }
  /** The deck was finished while the program waited. */
  | { readonly type: "finished" };

/** One play of a recorded conversation. */
export interface DuplexPlay {
  readonly track: DuplexTrack;
  /** Whether everything that was recorded of the program's has come. */
  readonly said: boolean;
  /** Waits for the moment at which it opens, or is refused (`track.fault`). */
  opened(): Pending;
  /**
   * The next thing for the program: one at a time, each in a turn of the event loop of its own, and each when what the
   * program had sent before it in the recording has come. Rejects with `ReplayStalled`. After the last one there is none.
   */
  next(): { readonly promise: Promise<DuplexStep>; cancel(): void };
  /**
   * The program sends something: a message, or bytes of its stream. Throws `FrameMismatch` where it is not what was
   * recorded, `ScriptExhausted` where nothing more was; the violation is on the deck, and the conversation stands still.
   */
  sent(bytes: Uint8Array, binary?: boolean): void;
  /**
   * The program does something that is no frame: it ends its stream (`end`), kills, closes. What was delivered after it in
   * the recording waits for it. `end` says as well that a line without a newline is complete. Throws as `sent` does.
   * `true`: what comes next in the recording, or comes when nothing else is waited for, was recorded behind such a call.
   */
  called(name: string, facts?: CallFacts): boolean;
}

/** Plays a conversation that was claimed. `sidecar` reads its files. */
export function playDuplex(play: Play, kind: DuplexKind, sidecar?: ReadSidecar): DuplexPlay {
  const track = play.track as DuplexTrack;
  const frames = track.frames ?? [];
  const plan = planDuplex(frames, track.style, sidecar);
  const links = createIdLinks();
  const recordedBytes = (index: number): Uint8Array => encodeContent(frames[index] as Frame, track.style, sidecar);
  const script: ClientScript = createClientScript(play, kind, plan, links, (chunk) =>
    plannedBytes(chunk, (index) => ({ bytes: recordedBytes(index) })),
  );
  const toPlay = plan.filter(({ from }) => from !== kind.client);
  const places = plan.flatMap((chunk, place) => (chunk.from === kind.client ? [] : [place]));
  const liveFrames = new Map<number, FrameBytes>();
  let played = 0;
  /** What of the outcome was told. */
  let broken = false;
  let over = false;

  /** A frame's bytes in this play: with the ids that the program gave. Made when all before it has come. */
  function liveBytes(index: number): FrameBytes {
    const known = liveFrames.get(index);
    if (known !== undefined) return known;
    const frame = frames[index] as Frame;
    const bytes = recordedBytes(index);
    const live = frameWithLiveIds(frame, bytes);
    const made: FrameBytes = live === undefined ? { bytes } : { bytes: live, moved: movedBy(bytes, live) };
    // What is torn over several chunks is made once.
    if (frame.cuts !== undefined) liveFrames.set(index, made);
    return made;
  }

  function frameWithLiveIds(frame: Frame, bytes: Uint8Array): Uint8Array | undefined {
    if (kind.ids === undefined || links.toLive.size === 0) return undefined;
    const message = treeOf(frame, bytes);
    if (message === undefined) return undefined;
    const live = withLiveIds(kind, links, message);
    if (live === message) return undefined;
    const content = frame.line === undefined ? ({ json: live } as const) : ({ line: live } as const);
    const { json: _, line: __, text: ___, ...rest } = frame;
    const tail = frame.text?.endsWith("\n") === true ? "\n" : "";
    const style = tail === "" ? {} : { style: { json: { tail } as const } };
    return encodeContent({ ...rest, ...content, ...style } as Frame, track.style, sidecar);
  }

  function step(chunk: PlannedChunk): DuplexStep {
    const { from, binary } = chunk;
    const bytes = plannedBytes(chunk, liveBytes);
    const text = kind.event === undefined || binary ? undefined : decodeUtf8(bytes);
    const message = text === undefined || !/^\s*[[{]/.test(text) ? undefined : parseJsonTree(text);
    play.note({ kind: "frame", boundary: kind.boundary, from, ...(message && kind.event?.(message)) });
    return { type: "frame", from: from as "server", bytes, binary };
  }

  function next(): { promise: Promise<DuplexStep>; cancel(): void } {
    const chunk = toPlay[played];
    if (chunk !== undefined) {
      const after = script.before(places[played] as number);
      const what = kind.unit === "line" ? `chunk ${played + 1} of ${chunk.from}` : `frame ${chunk.pieces[0].frame + 1}`;
      return waited(play.turn(chunk.at, what, chunk.after, after), () => {
        played++;
        return step(chunk);
      });
    }
    return outcome();
  }

  function outcome(): { promise: Promise<DuplexStep>; cancel(): void } {
    const { close, end } = track;
    const at = toPlay.at(-1)?.at ?? 0;
    const after = script.before(plan.length);
    const error = broken ? undefined : end?.error;
    if (error !== undefined) {
      // Both are one moment: the gate of the close holds it too.
      const gate = end?.after ?? close?.after;
      return waited(play.turn(end?.at ?? at, "the end", gate, after), () => {
        broken = true;
        if (close === undefined) told();
        return { type: "broke", error };
      });
    }
    if (over || close === undefined) return still({ type: "open" });
    return waited(play.turn(close.at ?? at, "the close", close.after, after), () => {
      told();
      return { type: "close" };
    });
  }

  /** Whether the first thing that is still held waits for this event. */
  function isAnswered(event: TraceEvent): boolean {
    const { trace } = play.stage;
    const rest = toPlay.slice(played).map(({ after }, i) => ({ after, place: places[played + i] as number }));
    for (const { after, place } of [...rest, { after: track.end?.after ?? track.close?.after, place: plan.length }]) {
      if (!script.before(place).met) return false;
      const gate = gateIn(trace, after);
      if (gate !== undefined) return gate.pattern !== undefined && matchesEvent(gate.pattern, event);
    }
    return false;
  }

  function told(): void {
    over = true;
    play.note({ kind: "close", boundary: kind.boundary });
  }

  return {
    track,
    get said() {
      return script.before(plan.length).met;
    },
    opened: () => play.turn(track.fault?.at ?? 0, track.fault === undefined ? "the opening" : "the fault", track.after),
    next,
    sent: (bytes, binary = false) => script.sent(bytes, binary),
    called(name, facts) {
      if (name === "end") script.ended();
      const event = completed({ kind: "call", boundary: kind.boundary, name, ...facts }, play.lane, track.id);
      const answered = isAnswered(event);
      play.note(event);
      return answered;
    },
  };
}

function treeOf(frame: Frame, bytes: Uint8Array): Json | undefined {
  if (frame.json !== undefined) return frame.json;
  if (frame.line !== undefined) return frame.line;
  const text = frame.text === undefined ? undefined : decodeUtf8(bytes);
  return text === undefined || !/^\s*\{/.test(text) ? undefined : parseJsonTree(text);
}

function still(step: DuplexStep): { promise: Promise<DuplexStep>; cancel(): void } {
  return { promise: Promise.resolve(step), cancel: () => undefined };
}

function waited(pending: Pending, then: () => DuplexStep): { promise: Promise<DuplexStep>; cancel(): void } {
  const promise = pending.promise.then(then, (error: unknown): DuplexStep => {
    if (error instanceof DeckFinished) return { type: "finished" };
    throw error;
  });
  return { promise, cancel: pending.cancel };
}
