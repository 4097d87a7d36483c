import type { Cassette, Seal, Track, TrackKind } from "./schema.ts";

/** What a deck opens: a cassette's tracks by number (from 0, in file order), each parsed and checked when asked for. */
export interface CassetteIndex {
  readonly size: number;
  readonly head: Omit<Cassette, "tracks" | "seal">;
  readonly seal?: Seal;
  /** The text is as we printed it. */
  readonly canonical: boolean;
  readonly text: string;
  id(i: number): string;
  kind(i: number): TrackKind;
  /** `undefined`: the main lane. */
  lane(i: number): string | undefined;
  /** Milliseconds since the recording began; where the file does not say, that of the track before. */
  at(i: number): number;
  /** The method of an http track. */
  method(i: number): string | undefined;
  /** The URL of an http or websocket track. */
  url(i: number): string | undefined;
  /** The name of a call (agent, model and function tracks), the command of a process. */
  name(i: number): string | undefined;
  /** The track, deeply frozen, the same object each time. */
  track(i: number): Track;
  /** The track, for reading at once: it may not be frozen, nor the same object next time. Never handed out. */
  peek(i: number): Track;
  /** The line of the file on which the track begins, from 1; 0 where the cassette is a value. */
  line(i: number): number;
  /** The number of a track, or -1. */
  indexOf(id: string): number;
  /** The whole cassette, deeply frozen. */
  cassette(): Cassette;
}
