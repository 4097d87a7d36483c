import type { Gate } from "../cassette/schema.ts";
import { type EventPattern, matchesEvent } from "../pattern.ts";
import type { Trace, TraceEvent } from "./trace.ts";

/** A gate in a play: what is still waited for. */
export interface OpenableGate {
  /** The track ids that it still waits for; empty for a pattern. */
  readonly tracks: Set<string>;
  readonly pattern: EventPattern | undefined;
}

/** The gate of a delivery, or `undefined` where it is open already. */
export function gateIn(trace: Trace, gate: Gate | undefined): OpenableGate | undefined {
  if (gate === undefined || gate === "start") return undefined;
  if (typeof gate === "string") return trace.made(gate) ? undefined : { tracks: new Set([gate]), pattern: undefined };
  if (Array.isArray(gate)) {
    const waiting = gate.filter((id) => id !== "start" && !trace.made(id));
    return waiting.length === 0 ? undefined : { tracks: new Set(waiting), pattern: undefined };
  }
  const pattern = gate as EventPattern;
  // A gate looks at everything that has happened so far and consumes nothing.
  return trace.events.some((event) => matchesEvent(pattern, event)) ? undefined : { tracks: new Set(), pattern };
}

/** Tells a gate of an event; `true` when the gate is open now. */
export function tellGate(gate: OpenableGate, event: TraceEvent, made: string | undefined): boolean {
  if (gate.pattern !== undefined) return matchesEvent(gate.pattern, event);
  if (made !== undefined) gate.tracks.delete(made);
  return gate.tracks.size === 0;
}

/** What a gate waits for, for people. */
export function describeGate(gate: OpenableGate): string {
  if (gate.pattern !== undefined) return `an event that matches ${JSON.stringify(gate.pattern)}`;
  const ids = [...gate.tracks];
  return ids.length === 1 ? `the request of track ${ids[0]}` : `the requests of tracks ${ids.join(", ")}`;
}
