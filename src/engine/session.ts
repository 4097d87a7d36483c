import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Json, Sidecar } from "../cassette/schema.ts";
import { OptionInvalid, type WiretapeError } from "../errors.ts";
import type { Play } from "./play.ts";
import type { Recording } from "./recorder.ts";
import type { RequestKind } from "./request-kind.ts";

/** A named sequence of tracks with its own order: what every boundary accepts. A deck is its own main lane. */
export interface Lane {
  /** The name of the lane; empty for a deck's main lane. */
  readonly name: string;
}

/** What became of a request: it is answered from the recording, or goes out and is recorded. */
export type Claim = { readonly play: Play } | { readonly record: Recording };

/** A request that was made, and has its place in the order of requests. */
export interface Admission {
  /** In mode `record`: the track that the request becomes, whatever it is. */
  readonly recording: Recording | undefined;
  /**
   * Decides what becomes of the request, in the order in which admissions were given: synchronously in the ordinary
   * case. Throws (or rejects with) the violation.
   */
  claim<R>(kind: RequestKind<R>, request: R): Claim | Promise<Claim>;
  /** The same, where a request that the recording does not answer is no fault: there is something else to answer it. */
  tryClaim<R>(kind: RequestKind<R>, request: R): Claim | undefined | Promise<Claim | undefined>;
  /** The request could not be formed (its body could not be read): it leaves the line. */
  drop(): void;
}

/** A lane from the inside: what a boundary works with. */
export interface Session {
  readonly mode: "replay" | "record" | "extend" | "live";
  readonly lane: string | undefined;
  readonly redactor: Redactor;
  /** Takes the request's place in the order. Synchronous, at the moment of the call; throws `DeckFinished` after the end. */
  admit(): Admission;
  /** Reports what a boundary found: it is thrown where it happens, and the deck's `finish()` fails with it as well. */
  fail<E extends WiretapeError>(error: E): E;
  /** Resolves in a turn of the event loop of its own: what is recorded is handed out as a replay hands it out. */
  turn(): Promise<void>;
  /** A variable of the recording that is about the lane's world and not about a request; `undefined`: not recorded. */
  recordedFact(name: string): Json | undefined;
  /** Records such a variable, where the deck records. */
  recordFact(name: string, value: Json): void;
  /** Reads the sidecar files of a track, each with its size and digest proved, before it is played. */
  sidecars(files: readonly Sidecar[]): Promise<(file: Sidecar) => Uint8Array>;
}

const sessions = new WeakMap<Lane, Session>();

/** Gives a lane its inside. */
export function bindSession(lane: Lane, session: Session): void {
  sessions.set(lane, session);
}

/** The inside of a lane. */
export function sessionOf(lane: Lane): Session {
  const session = sessions.get(lane);
  if (session !== undefined) return session;
  throw new OptionInvalid(
    `A boundary takes a deck or a lane of one, as openDeck() and deck.lane("name") return them; got ${lane === null ? "null" : typeof lane}.`,
  );
}
