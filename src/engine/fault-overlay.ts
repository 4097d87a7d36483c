import { closest } from "fastest-levenshtein";
import { applyFault } from "../cassette/fault-apply.ts";
import { FAULT_TYPES, type Fault } from "../cassette/fault-kinds.ts";
import { type CassetteIndex, indexCassette } from "../cassette/open.ts";
import type { Track } from "../cassette/schema.ts";
import { OptionInvalid } from "../errors.ts";

/**
 * A cassette as it plays with faults laid over it: those of one track in the order in which they are given. The file and
 * its tracks stay as they are. Throws `OptionInvalid` with everything that is wrong with the faults.
 */
export function overlayFaults(index: CassetteIndex, faults: readonly Fault[]): CassetteIndex {
  const problems: string[] = [];
  const ids = Array.from({ length: index.size }, (_, i) => index.id(i));
  const byTrack = new Map<string, Fault[]>();
  for (const fault of faults) {
    const problem = problemOf(fault, ids);
    if (problem !== undefined) problems.push(problem);
    else byTrack.set(fault.track, [...(byTrack.get(fault.track) ?? []), fault]);
  }
  const lines: number[] = [];
  const tracks: Track[] = [];
  for (const [i, id] of ids.entries()) {
    let played: readonly Track[] = [index.track(i)];
    for (const fault of byTrack.get(id) ?? []) {
      try {
        // The last one is the recorded track; those before it answer first.
        played = [...played.slice(0, -1), ...applyFault(played.at(-1) as Track, fault)];
      } catch (error) {
        if (!(error instanceof OptionInvalid)) throw error;
        problems.push(error.message.replace(/\.$/, ""));
      }
    }
    for (const track of played) {
      tracks.push(track);
      lines.push(index.line(i));
    }
  }
  if (problems.length > 0)
    throw new OptionInvalid(`The deck's faults are wrong: ${problems.join("; ")}.`, { faults: problems });
  const numbered = numberApart(tracks);
  const overlaid = indexCassette({ ...index.head, tracks: numbered } as never);
  return { ...overlaid, text: index.text, line: (i) => lines[i] ?? 0 };
}

function problemOf(fault: Fault, ids: readonly string[]): string | undefined {
  if (typeof fault !== "object" || fault === null)
    return `a fault is an object such as { type: "cut", track: "t1", frame: 2 }; got ${typeof fault}`;
  if (!FAULT_TYPES.includes(fault.type))
    return `there is no fault "${fault.type}"; the nearest is "${closest(String(fault.type), FAULT_TYPES)}"`;
  if (!ids.includes(fault.track))
    return `there is no track "${fault.track}"${ids.length === 0 ? "" : `; the nearest is "${closest(String(fault.track), ids)}"`}`;
  for (const [key, least] of [
    ["frame", 0],
    ["ms", 0],
    ["size", 1],
    ["bytes", 0],
    ["status", 200],
  ] as const) {
    const value = (fault as Partial<Record<typeof key, unknown>>)[key];
    const needed =
      (key === "frame" && ["cut", "reset", "duplicate", "delay", "malformed"].includes(fault.type)) ||
      (key === "ms" && fault.type === "delay") ||
      (key === "status" && fault.type === "status");
    if (value === undefined && !needed) continue;
    if (!Number.isInteger(value) || (value as number) < least)
      return `${key} of the fault "${fault.type}" is ${JSON.stringify(value)}; it is a whole number from ${least}`;
  }
  return undefined;
}

// The same status may come several times: each of those tracks has an id of its own.
function numberApart(tracks: readonly Track[]): Track[] {
  const seen = new Map<string, number>();
  return tracks.map((track) => {
    const count = (seen.get(track.id) ?? 0) + 1;
    seen.set(track.id, count);
    return count === 1 ? track : { ...track, id: `${track.id}-${count}` };
  });
}
