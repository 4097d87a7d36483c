import type { Fault, Path } from "./fault.ts";
import { bodyRules, frameListRules } from "./frame-rules.ts";
import { suggest } from "./nearest.ts";
import { payloadRules, valueNumber } from "./payload-rules.ts";
import type { RuleContext } from "./rule-context.ts";
import type { Cassette, Gate, Headers, HttpTrack, StoredRequest, StoredResponse, Track } from "./schema.ts";

/**
 * What a schema cannot say. It also runs over a cassette that lacks things, so that a file with a fault of shape is told
 * its other faults in the same run: what was of the wrong shape has been deleted by then (a hole in a list). `lineOf` gives the line of a path where there is a
 * text, so that a duplicate can name the first.
 */
export function checkRules(cassette: Cassette, lineOf?: (path: Path) => number | undefined): Fault[] {
  const faults: Fault[] = [];
  const ids = idsOf(cassette.tracks ?? []);
  // The nearest id is looked for among a thousand, for the first hundred faults: a hostile file has a million of both.
  const known = [...ids.keys()].slice(0, 1000);
  let hints = 100;
  const nearest = (id: string): string => (hints-- > 0 ? suggest(id, known, "the tracks are") : "");
  const context: RuleContext = {
    fault: (path, message, atKey) => void faults.push({ path, message, ...(atKey && { atKey }) }),
    missing: (path, message) => void faults.push({ path, message, missing: true }),
    gate: (gate, path) => gateRules(gate, path, ids, nearest, context),
  };
  for (const [name, value] of Object.entries(cassette.vars ?? {}))
    payloadRules(value, ["vars", name], valueNumber, context);
  cassette.tracks?.forEach((track, index) => {
    const path = ["tracks", index];
    const first = ids.get(track.id);
    if (first !== undefined && first !== index) {
      const line = lineOf?.(["tracks", first]);
      context.fault(
        [...path, "id"],
        `duplicate track id "${track.id}"; the first is ${line ? `on line ${line}` : `track ${first + 1}`}`,
      );
    }
    trackRules(track, path, context);
  });
  return faults;
}

function idsOf(tracks: readonly Track[]): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  tracks.forEach((track, index) => {
    if (track.id !== undefined && !ids.has(track.id)) ids.set(track.id, index);
  });
  return ids;
}

function trackRules(track: Track, path: Path, context: RuleContext): void {
  if (track.id === "start") context.fault([...path, "id"], '"start" is reserved: a gate means "at once" by it');
  context.gate(track.after, [...path, "after"]);
  context.gate(track.end?.after, [...path, "end", "after"]);
  switch (track.kind) {
    case "http":
      exchangeRules(track, path, context);
      break;
    case "websocket":
    case "process":
    case "mcp":
      if (track.kind === "websocket") headerRules(track.open?.headers, [...path, "open", "headers"], context);
      context.gate(track.close?.after, [...path, "close", "after"]);
      frameListRules(track.frames, [...path, "frames"], track.kind, context);
      break;
    case "agent":
    case "model":
    case "function":
      callRules(track, path, context);
      break;
    default: // the kind is absent or unknown: of what there is, nothing can be said
  }
}

function exchangeRules(track: HttpTrack, path: Path, context: RuleContext): void {
  const outcomes = (["response", "fault", "end"] as const).filter((key) => track[key] !== undefined);
  if (outcomes.length === 0)
    context.missing(path, `track "${track.id}" has no outcome: give it a "response", a "fault" or an "end"`);
  if (outcomes.length > 1)
    context.fault(path, `track "${track.id}" has ${quoted(outcomes)}; an exchange has exactly one of them`);
  messageRules(track.request, [...path, "request"], context);
  const response = track.response;
  if (response === undefined) return;
  const at = [...path, "response"];
  messageRules(response, at, context);
  context.gate(response.after, [...at, "after"]);
  context.gate(response.end?.after, [...at, "end", "after"]);
  if (response.reason !== undefined && !isLatin1(response.reason))
    context.fault([...at, "reason"], `${latin1Wanted}: a reason phrase goes over the wire one byte a character`);
  response.informational?.forEach((head, i) => {
    headerRules(head.headers, [...at, "informational", i, "headers"], context);
  });
}

function messageRules(message: StoredRequest | StoredResponse | undefined, path: Path, context: RuleContext): void {
  if (message === undefined) return;
  headerRules(message.headers, [...path, "headers"], context);
  headerRules(message.trailers, [...path, "trailers"], context);
  bodyRules(message.body, [...path, "body"], context);
  bodyRules(message.decoded, [...path, "decoded"], context);
}

function callRules(track: Extract<Track, { call: unknown }>, path: Path, context: RuleContext): void {
  const { result, error, events, end } = track;
  if (result === undefined && error === undefined && events === undefined && end === undefined)
    context.missing(path, `track "${track.id}" has no outcome: give it a "result", an "error", "events" or an "end"`);
  if (result !== undefined && error !== undefined)
    context.fault(path, `track "${track.id}" has a "result" and an "error"; a call has one of them`);
  context.gate(result?.after, [...path, "result", "after"]);
  payloadRules(track.call?.input, [...path, "call", "input"], valueNumber, context);
  payloadRules(result?.value, [...path, "result", "value"], valueNumber, context);
  frameListRules(events, [...path, "events"], track.kind, context);
}

const latin1Wanted = "must be Latin-1 (no character above U+00FF)";

function isLatin1(text: string): boolean {
  return !/[^\u0000-\u00ff]/.test(text);
}

function headerRules(headers: Headers | undefined, path: Path, context: RuleContext): void {
  headers?.forEach((pair, i) => {
    pair.forEach((text, side) => {
      if (!isLatin1(text))
        context.fault([...path, i, side], `${latin1Wanted}: headers go over the wire one byte a character`);
    });
  });
}

function gateRules(
  gate: Gate | undefined,
  path: Path,
  ids: ReadonlyMap<string, number>,
  nearest: (id: string) => string,
  context: RuleContext,
): void {
  if (gate === undefined) return;
  const named = (id: string, at: Path): void => {
    if (id !== "start" && !ids.has(id))
      context.fault(at, `waits for track "${id}", which does not exist${nearest(id)}`);
  };
  if (typeof gate === "string") named(gate, path);
  else if (isList(gate)) gate.forEach((id, i) => void named(id, [...path, i]));
}

function isList(gate: Gate): gate is readonly string[] {
  return Array.isArray(gate);
}

function quoted(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(" and ");
}
