import type { Cut, Gate, Track } from "../cassette/schema.ts";

// Where deliveries are in a track. Payloads are under other keys, so what looks like a gate in one is left alone.
const PLACES = new Set(["response", "body", "frames", "events", "result", "end", "close"]);

type Change = (gate: Gate) => Gate | undefined;

/** The track with every gate replaced by what `change` makes of it; `undefined` takes a gate out. In file order. */
export function mapGates(track: Track, change: Change): Track {
  return map(track, change) as Track;
}

/** Every gate of a track, in file order. */
export function gatesOf(track: Track): Gate[] {
  const gates: Gate[] = [];
  mapGates(track, (gate) => {
    gates.push(gate);
    return gate;
  });
  return gates;
}

/** A gate with those of its track ids that are wanted; `undefined` where none is left. A pattern names none and stays. */
export function filterGate(gate: Gate, wanted: (id: string) => boolean): Gate | undefined {
  if (typeof gate === "string") return wanted(gate) ? gate : undefined;
  if (!Array.isArray(gate)) return gate;
  const kept = (gate as readonly string[]).filter(wanted);
  return kept.length > 1 ? kept : kept[0];
}

function map(value: unknown, change: Change): unknown {
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === "after") {
      const gate = change(item as Gate);
      if (gate !== undefined) copy[key] = gate;
    } else if (key === "cuts") copy[key] = (item as readonly Cut[]).map((cut) => mapCut(cut, change));
    else copy[key] = PLACES.has(key) ? map(item, change) : item;
  }
  return copy;
}

function mapCut(cut: Cut, change: Change): Cut {
  if (cut[2] === undefined) return cut;
  const gate = change(cut[2]);
  return gate === undefined ? [cut[0], cut[1]] : [cut[0], cut[1], gate];
}
