import type { Json, Track } from "../cassette/schema.ts";

/** An answer in the form in which two of them are compared. JSON Pointers of reports and tolerances lead into it. */
export interface Answer {
  readonly status?: number;
  /** By name in lower case, each with its values. */
  readonly headers?: { readonly [name: string]: readonly string[] };
  /** A body that is one value: the tree of JSON, else a text, else `{ "$bytes": … }`. */
  readonly body?: Json;
  /** What came one by one: server-sent events, lines, messages, items. */
  readonly events?: readonly Json[];
  /** What a call gave. */
  readonly result?: Json;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string | number };
  /** How a conversation or a process ended. */
  readonly close?: { readonly [name: string]: Json };
}

/** What plays a track's client side is given. */
export interface TrackDrive {
  /** Aborts when the recorded program would have left, or the drive is over. */
  readonly signal: AbortSignal;
  /** A recorded value with what the other side has invented anew in its place: in texts as well, as whole words. */
  live<T extends Json>(value: T): T;
  /**
   * Tells that something was delivered: the head of an answer, a body, an event, a result, an end; with what it was, in
   * the place that it has in the answer (`{ body }`, `{ events: { 3: event } }`), so that later requests can carry it.
   */
  arrived(heard?: { readonly [part in keyof Answer]?: unknown }): void;
  /**
   * Waits until everything that other tracks had delivered before this moment of the track has been delivered, and so many
   * deliveries of its own. Not for ever: what does not come any more is given up after a while.
   */
  until(at: number, own: number): Promise<void>;
}

/**
 * Something into which the client's side of a cassette is played: a server, a handler, a transport, a process. It
 * translates; what is waited for, linked and compared is decided elsewhere.
 */
export interface Target {
  /** How reports call it. */
  readonly name: string;
  /** Why a track cannot be played into it; `undefined`: it can. */
  refuses(track: Track): string | undefined;
  /** The recorded answer of a track. */
  recorded(track: Track): Answer;
  /** When each delivery of it was recorded, in milliseconds since the track began: as often as `arrived` is told of one. */
  deliveries(track: Track): readonly { readonly at: number; readonly after?: unknown }[];
  /** Plays the track's client side and drains the answer. Rejects only for a fault of its own. */
  play(track: Track, drive: TrackDrive): Promise<Answer>;
}
