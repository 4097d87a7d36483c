import type { Cassette } from "../cassette/schema.ts";
import type { Target } from "../engine/target.ts";
import { type DriveOptions, type DriveReport, drive } from "./drive.ts";

export type DriftOptions = DriveOptions;

/** What changed between a cassette and the live service. */
export interface DriftReport extends DriveReport {
  /** The report for people: what differs, by track, the gravest first. */
  readonly text: string;
}

/**
 * Plays a cassette into the live service and tells what has changed since it was recorded, in tiers. `ok` is false where
 * something of a tier that counts has (`failOn`; default: status, events, removed and changed types).
 */
export async function drift(cassette: Cassette, target: Target, options: DriftOptions = {}): Promise<DriftReport> {
  const report = await drive(cassette, target, options);
  return { ...report, text: driftText(report) };
}

/** The report of a drive for people. Several differences of one kind in a track are told together. */
export function driftText(report: DriveReport): string {
  const { tracks, target, ok } = report;
  const played = tracks.filter(({ outcome }) => outcome !== "skipped");
  const same = played.filter(({ differences }) => differences.length === 0);
  const lines = [
    `${target}: ${ok ? "nothing that matters has changed" : "it has changed"} (${same.length} of ${played.length} ${played.length === 1 ? "track" : "tracks"} without a difference)`,
  ];
  for (const { what, outcome, reason, differences } of tracks) {
    if (outcome === "skipped") lines.push(`  skipped   ${what}: ${reason}`);
    else if (differences.length > 0 || reason !== undefined) {
      lines.push(`  ${outcome === "same" ? "minor  " : outcome.padEnd(7)}   ${what}`);
      if (reason !== undefined) lines.push(`              ${reason}`);
      for (const { tier, message } of differences.slice(0, 20))
        lines.push(`              ${tier.padEnd(8)} ${message}`);
      if (differences.length > 20) lines.push(`              and ${differences.length - 20} more`);
    }
  }
  return lines.join("\n");
}
