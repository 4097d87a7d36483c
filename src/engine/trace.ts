import type { FlatEvent } from "../pattern.ts";

/** What has happened in a play: flat, so that patterns can be partial objects. What a boundary adds is beside. */
export interface TraceEvent extends FlatEvent {
  readonly kind: "request" | "response" | "frame" | "call" | "inbound" | "close";
  readonly boundary: string;
  readonly lane?: string;
  /** The id of the track that it belongs to. */
  readonly track?: string;
}

/** The append-only log of a deck, started before anything else. */
export class Trace {
  readonly events: TraceEvent[] = [];
  readonly #made = new Set<string>();
  #listener: ((event: TraceEvent, made: string | undefined) => void) | undefined;

  /** The one listener: whoever holds deliveries back. */
  listen(listener: (event: TraceEvent, made: string | undefined) => void): void {
    this.#listener = listener;
  }

  /** Whether the request of a track has been made. */
  made(track: string): boolean {
    return this.#made.has(track);
  }

  /** Appends an event. One of kind `request` or `call` says that its track's request has been made. */
  push(event: TraceEvent): void {
    this.events.push(event);
    const begins = (event.kind === "request" || event.kind === "call") && event.track !== undefined;
    if (begins) this.#made.add(event.track as string);
    this.#listener?.(event, begins ? event.track : undefined);
  }
}
