import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Gate, Track } from "../cassette/schema.ts";
import type { WiretapeError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { Condition, Deliveries, Pending } from "./deliveries.ts";
import type { Matcher } from "./identity.ts";
import type { TrackPlace } from "./report.ts";
import type { Trace, TraceEvent } from "./trace.ts";

/** One play of a recorded track: what a boundary needs to hand it to the program. */
export interface Play {
  readonly track: Track;
  /** Whether nothing else waits and replays are not paced: several deliveries may then be handed over as one. */
  readonly alone: boolean;
  /**
   * Waits for the turn of a delivery; `undefined` when it may be handed over in this turn of the event loop.
   * @param at milliseconds since the track began, as recorded
   * @param what for messages: "the head", "chunk 3"
   * @param stream deliveries of one stream may share a turn while it is read alone
   */
  wait(at: number, what: string, after: Gate | undefined, stream?: object): Pending | undefined;
  /** Keeps the process alive while the program waits for what will never come; the returned function, or the deck's end, ends it. */
  linger(): () => void;
  /** Calls when the deck is finished; the returned function takes it back. */
  whenFinished(told: () => void): () => void;
  /**
   * Waits for a delivery that has a turn of the event loop of its own. What a program makes of the events of a stream may
   * depend on which of them come together; so none do.
   */
  turn(at: number, what: string, after: Gate | undefined, until?: Condition): Pending;
  /** Notes in the trace that something was handed to the program. The event is completed in place: make a fresh one. */
  note(event: TraceEvent): void;
  /** The program gave up before any part of the answer: the track may be claimed again, once. */
  giveBack(): void;
  /** What all plays of the deck share: what a conversation is compared with. */
  readonly stage: Stage;
  readonly lane: string | undefined;
  /** Reports a violation that the boundary found. */
  fail(error: WiretapeError): WiretapeError;
}

/** What every play of a deck shares. */
export interface Stage {
  readonly deliveries: Deliveries;
  readonly trace: Trace;
  readonly clock: Clock;
  /** How many times faster than recorded; 0 = at once. */
  readonly speed: number;
  readonly fail: (error: WiretapeError, key?: string) => WiretapeError;
  /** How requests and what follows them are compared. */
  readonly matcher: Matcher;
  readonly redactor: Redactor;
  /** How messages call the cassette, and a track of it. */
  readonly name: string;
  place(track: string): TrackPlace;
}

/** A claimed track on its way to the program. A class, because one is made for every request. */
export class TrackPlay implements Play {
  readonly track: Track;
  readonly giveBack: () => void;
  readonly stage: Stage;
  readonly lane: string | undefined;
  readonly #recordedAt: number;
  readonly #began: number;
  #order: number;

  /** @param place the track's place in the file; `recordedAt`: when its request was made */
  constructor(
    stage: Stage,
    track: Track,
    lane: string | undefined,
    place: number,
    recordedAt: number,
    giveBack: () => void,
  ) {
    this.track = track;
    this.giveBack = giveBack;
    this.stage = stage;
    this.lane = lane;
    this.#recordedAt = recordedAt;
    this.#began = stage.speed === 0 ? 0 : stage.clock.now();
    this.#order = place;
  }

  get alone(): boolean {
    return this.stage.speed === 0 && this.stage.deliveries.idle;
  }

  wait(at: number, what: string, after: Gate | undefined, stream?: object): Pending | undefined {
    const { deliveries, speed } = this.stage;
    this.#order += 1e-9;
    if (stream !== undefined && after === undefined && speed === 0 && deliveries.mayShare(stream)) return undefined;
    return this.#wait(at, what, after, stream, false);
  }

  turn(at: number, what: string, after: Gate | undefined, until?: Condition): Pending {
    this.#order += 1e-9;
    return this.#wait(at, what, after, undefined, true, until) as Pending;
  }

  // Later deliveries of one track come after earlier ones of the same millisecond, before those of later tracks: each
  // has moved `#order` on.
  #wait(
    at: number,
    what: string,
    after: Gate | undefined,
    stream: object | undefined,
    apart: boolean,
    until?: Condition,
  ): Pending | undefined {
    const { deliveries, speed } = this.stage;
    return deliveries.wait({
      track: this.track.id,
      what,
      recordedAt: this.#recordedAt + at,
      order: this.#order,
      after,
      dueAt: speed === 0 ? undefined : this.#began + at / speed,
      stream,
      apart,
      until,
    });
  }

  linger(): () => void {
    return this.stage.deliveries.linger();
  }

  whenFinished(told: () => void): () => void {
    return this.stage.deliveries.whenStopped(told);
  }

  note(event: TraceEvent): void {
    this.stage.trace.push(completed(event, this.lane, this.track.id));
  }

  fail(error: WiretapeError): WiretapeError {
    return this.stage.fail(error);
  }
}

/** An event with its lane and track. In place, because one is made for every chunk. */
export function completed(event: TraceEvent, lane: string | undefined, track: string): TraceEvent {
  const whole = event as { lane?: string; track?: string } & TraceEvent;
  if (lane !== undefined) whole.lane = lane;
  whole.track = track;
  return whole;
}
