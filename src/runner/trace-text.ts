import type { Track } from "../cassette/schema.ts";
import type { TraceEvent } from "../engine/trace.ts";
import type { FlatEvent, TraceMatch, TracePattern } from "../pattern.ts";

const SHOWN = 10;

/** A track in a few words: `t3 GET https://…`. */
export function trackText(track: Track): string {
  const what =
    track.kind === "http"
      ? `${track.request.method} ${track.request.url}`
      : "call" in track
        ? `${track.kind} ${track.call.name}`
        : track.kind;
  return `track ${track.id} ${what}`;
}

/** How far patterns got in a trace: what matched where, the first that did not, and the events that came instead. */
export function traceText(trace: readonly TraceEvent[], patterns: readonly TracePattern[], found: TraceMatch): string {
  const matched = found.at.map(
    (at, n) =>
      `  matched   ${JSON.stringify(patterns[n])}\n            ${at < 0 ? "no event" : `event ${at + 1}: ${eventText(trace[at] as TraceEvent)}`}`,
  );
  if (found.matched) {
    return [
      `expected the trace not to match, but ${patterns.length === 1 ? "the pattern" : `each of the ${patterns.length} patterns`} found its event:`,
      ...matched,
    ].join("\n");
  }
  const from = Math.max(-1, ...found.at) + 1;
  const rest = trace.slice(from);
  const after =
    from === 0 ? "the trace" : `the ${rest.length === 1 ? "event" : `${rest.length} events`} after event ${from}`;
  return [
    `expected the trace to match, but pattern ${found.at.length + 1} of ${patterns.length} found no event in ${after}:`,
    ...matched,
    `  missing   ${JSON.stringify(found.missing)}`,
    ...(rest.length === 0 ? [`  followed  nothing: the trace has ${trace.length} events`] : []),
    ...rest
      .slice(0, SHOWN)
      .map((event, n) => `  ${n === 0 ? "followed" : "        "}  event ${from + n + 1}: ${eventText(event)}`),
    ...(rest.length > SHOWN ? [`            and ${rest.length - SHOWN} more`] : []),
  ].join("\n");
}

function eventText(event: FlatEvent): string {
  const text = JSON.stringify(event);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
