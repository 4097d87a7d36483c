import { encodeContent } from "../cassette/content.ts";
import { planDuplex, plannedBytes } from "../cassette/duplex-plan.ts";
import type { Frame, Json, Track } from "../cassette/schema.ts";
import type { DuplexTrack } from "./duplex-play.ts";
import type { Answer, TrackDrive } from "./target.ts";

/** Something that the program of a recorded conversation did. */
export interface ClientStep {
  readonly at: number;
  /** How many of the other side's units came before it. */
  readonly after: number;
  /** What it sent; absent: something that is no frame, by its name (`end`, `kill`). */
  readonly bytes?: Uint8Array;
  readonly binary?: boolean;
  readonly call?: string;
}

/** Something that the other side said. */
export interface ServerUnit {
  readonly at: number;
  readonly after?: unknown;
  readonly from: string;
  readonly value: Json;
}

/** A recorded conversation, taken apart for a drive. */
export interface Script {
  readonly steps: readonly ClientStep[];
  readonly units: readonly ServerUnit[];
}

/**
 * The two sides of a recorded conversation. `read` gives the units that a chunk of the other side's completes; `rest` what
 * is left at the end.
 */
export function readScript(
  track: DuplexTrack,
  client: "client" | "stdin",
  read: (from: string, bytes: Uint8Array, binary: boolean) => readonly Json[],
  rest: () => readonly { readonly from: string; readonly value: Json }[] = () => [],
): Script {
  const { frames = [], style, close } = track;
  const steps: ClientStep[] = [];
  const units: ServerUnit[] = [];
  const calls = new Set<string>();
  const called = (gate: unknown, at: number): void => {
    const {
      kind,
      name,
      track: own,
    } = (typeof gate === "object" && gate !== null ? gate : {}) as Record<string, unknown>;
    if (kind !== "call" || own !== track.id || typeof name !== "string" || calls.has(name)) return;
    calls.add(name);
    steps.push({ at, after: units.length, call: name });
  };
  let last = 0;
  for (const chunk of planDuplex(frames, style, undefined)) {
    last = chunk.at;
    const bytes = plannedBytes(chunk, (index) => ({ bytes: encodeContent(frames[index] as Frame, style) }));
    if (chunk.from === client) {
      steps.push({ at: chunk.at, after: units.length, bytes, binary: chunk.binary });
      continue;
    }
    called(chunk.after, chunk.at);
    for (const value of read(chunk.from, bytes, chunk.binary)) {
      units.push({ at: chunk.at, after: chunk.after, from: chunk.from, value });
    }
  }
  for (const { from, value } of rest()) units.push({ at: last, from, value });
  called(close?.after, close?.at ?? last);
  return { steps, units };
}

/** Makes the program's steps in a live conversation, each when what came before it has come. */
export async function playScript(
  script: Script,
  { until, signal }: TrackDrive,
  make: (step: ClientStep) => Promise<void> | void,
): Promise<void> {
  for (const step of script.steps) {
    await until(step.at, step.after);
    if (signal.aborted) return;
    await make(step);
  }
  await until(script.units.at(-1)?.at ?? 0, script.units.length);
}

/** The recorded answer of a conversation. */
export function scriptAnswer({ units }: Script, close?: Answer["close"]): Answer {
  return { events: units.map(({ value }) => value), ...(close !== undefined && { close }) };
}

/** Why the conversation cannot be driven: it never opened, or what it says stands in files. */
export function refusesDuplex(track: Track, kind: Track["kind"]): string | undefined {
  if (track.kind !== kind) return `it is of kind ${track.kind}`;
  const { fault, frames = [] } = track as DuplexTrack;
  if (fault !== undefined) return "it never opened";
  return frames.some(({ file }) => file !== undefined)
    ? "a part of it stands in a file beside the cassette"
    : undefined;
}
