import type { ReadSidecar } from "../cassette/content.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Track, TrackKind } from "../cassette/schema.ts";
import type { Facets } from "./identity.ts";
import type { TraceEvent } from "./trace.ts";

/** What of a request can be told without reading all of it: enough to sort tracks into buckets. */
export interface RequestParts {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * What the engine must know about the requests of one boundary. The engine itself knows no HTTP, no functions, no
 * protocol: a boundary translates, the engine decides.
 */
export interface RequestKind<R> {
  readonly kind: TrackKind;
  /** The name of the boundary in the trace. */
  readonly boundary: string;
  /** A live request with its secrets replaced, so that it can be compared with a recorded one. */
  redact(redactor: Redactor, request: R): R;
  /** What is compared. `include` lists the JSON Pointers that count beside the default. */
  facets(request: R, include: readonly string[]): Facets;
  /** The request of a recorded track. `file` reads what of it stands in files. */
  recorded(track: Track, file?: ReadSidecar): R;
  parts(request: R): RequestParts;
  /** A key that is equal for requests that may be the same: cheap, and true to every way of writing one request. */
  bucket(parts: RequestParts): string;
  /** Whether two requests are surely the same, told without their facets: `false` only means that it is not known. */
  alike(a: R, b: R): boolean;
  /** The request in a few words, for messages. */
  describe(request: R): string;
  /** Its event in the trace, without lane and track; a fresh object each time. */
  event(request: R): TraceEvent;
  /** The script that a request belongs to, where it is less than its whole lane: it has an end of its own. */
  scope?(request: R): RequestScope<R> | undefined;
}

/** A part of a lane that is told as one thing: once all of it was played, whatever else is asked of it is past its end. */
export interface RequestScope<R> {
  /** For messages: "thread thread-1". */
  readonly name: string;
  /** What its tracks are called, for messages: "action". */
  readonly unit: string;
  /** Whether a recorded request of the kind belongs to it. */
  has(recorded: R): boolean;
}
