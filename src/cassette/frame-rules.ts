import { decodeBase64 } from "../wire/bytes.ts";
import { CONTENT_KEYS } from "./content.ts";
import type { Path } from "./fault.ts";
import { whyOutside } from "./inside-folder.ts";
import { jsonNumber, payloadRules, valueNumber } from "./payload-rules.ts";
import type { RuleContext } from "./rule-context.ts";
import type { Body, Frame, ServerSentEvent, TrackKind } from "./schema.ts";

const contentList = CONTENT_KEYS.map((key) => `"${key}"`).join(", ");
const loneSurrogate = /\p{Surrogate}/u;

/** The rules of a body of an exchange: one content object, or a list of frames. */
export function bodyRules(body: Body | undefined, path: Path, context: RuleContext): void {
  if (body === undefined) return;
  if (isList(body)) frameListRules(body, path, "http", context);
  else frameRules(body, path, "http", undefined, context);
}

/** The rules of a list of frames in a track of a kind. */
export function frameListRules(
  frames: readonly Frame[] | undefined,
  path: Path,
  kind: TrackKind,
  context: RuleContext,
): void {
  if (frames === undefined) return;
  const seen = new Set<string | undefined>();
  frames.forEach((frame, i) => {
    frameRules(frame, [...path, i], kind, seen, context);
    seen.add(frame.from);
  });
}

/** `before`: the senders of the frames before; absent for a body that is one content object. */
function frameRules(
  frame: Frame,
  path: Path,
  kind: TrackKind,
  before: ReadonlySet<string | undefined> | undefined,
  context: RuleContext,
): void {
  contentRules(frame, path, kind, context);
  senderRules(frame, path, kind, context);
  context.gate(frame.after, [...path, "after"]);
  if (frame.joined) {
    for (const key of ["at", "after"] as const)
      if (frame[key] !== undefined)
        context.fault(
          [...path, key],
          `a joined frame comes with the frame before it and has no "${key}" of its own`,
          true,
        );
    if (before === undefined || !before.has(frame.from))
      context.fault([...path, "joined"], "nothing to join: there is no frame before it from the same side", true);
  }
  let least = 0;
  frame.cuts?.forEach((cut, i) => {
    // The schema has refused a cut without an offset; here it is skipped.
    if (cut[0] < least)
      context.fault(
        [...path, "cuts", i, 0],
        `offset ${cut[0]} is less than ${least}, that of the cut before: offsets never decrease`,
      );
    least = Math.max(least, cut[0]);
    context.gate(cut[2], [...path, "cuts", i, 2]);
  });
}

function contentRules(frame: Frame, path: Path, kind: TrackKind, context: RuleContext): void {
  const present = CONTENT_KEYS.filter((key) => frame[key] !== undefined);
  if (present.length === 0) context.missing(path, `has no content: give it one of ${contentList}`);
  if (present.length > 1)
    context.fault(path, `has ${present.map((key) => `"${key}"`).join(" and ")}; a frame has exactly one content key`);
  payloadRules(frame.json, [...path, "json"], jsonNumber, context);
  payloadRules(frame.line, [...path, "line"], jsonNumber, context);
  payloadRules(frame.value, [...path, "value"], valueNumber, context);
  if (frame.value !== undefined && !isCall(kind))
    context.fault(
      [...path, "value"],
      `"value" belongs to call tracks (agent, model, function); in a track of kind "${kind}" use "json"`,
      true,
    );
  if (frame.text !== undefined) wellFormed(frame.text, [...path, "text"], context);
  if (frame.sse !== undefined) eventRules(frame.sse, [...path, "sse"], context);
  if (frame.base64 !== undefined && decodeBase64(frame.base64) === undefined)
    context.fault([...path, "base64"], "must be base64 of the standard alphabet, padded with =, without white space");
  if (frame.file?.path !== undefined) filePathRules(frame.file.path, [...path, "file", "path"], context);
}

function senderRules(frame: Frame, path: Path, kind: TrackKind, context: RuleContext): void {
  const senders = kind === "process" ? ["stdin", "stdout", "stderr"] : ["client", "server"];
  const wanted = senders.map((sender) => `"${sender}"`).join(" or ");
  const duplex = kind === "websocket" || kind === "process" || kind === "mcp";
  if (!duplex && frame.from !== undefined)
    context.fault([...path, "from"], `"from" belongs to websocket, process and mcp tracks, not to "${kind}"`, true);
  if (duplex && frame.from === undefined) context.missing(path, `"from" is missing: ${wanted}`);
  if (duplex && frame.from !== undefined && !senders.includes(frame.from))
    context.fault([...path, "from"], `must be ${wanted} in a track of kind "${kind}", not "${frame.from}"`);
  if (frame.binary && kind !== "websocket")
    context.fault([...path, "binary"], `"binary" belongs to websocket tracks, not to "${kind}"`, true);
}

function eventRules(event: ServerSentEvent, path: Path, context: RuleContext): void {
  if (event.data !== undefined && event.json !== undefined)
    context.fault(path, 'has "data" and "json"; an event has one of them');
  payloadRules(event.json, [...path, "json"], jsonNumber, context);
  for (const key of ["event", "id"] as const)
    if (event[key] !== undefined && /[\r\n]/.test(event[key]))
      context.fault([...path, key], `an "${key}" is one line: it cannot hold a line break`);
  for (const key of ["comment", "event", "id", "data"] as const)
    if (event[key] !== undefined) wellFormed(event[key], [...path, key], context);
}

function wellFormed(text: string, path: Path, context: RuleContext): void {
  if (loneSurrogate.test(text))
    context.fault(path, 'holds half of a surrogate pair, which has no bytes in UTF-8; write the bytes as "base64"');
}

function filePathRules(file: string, path: Path, context: RuleContext): void {
  const reason = whyOutside(file);
  if (reason !== undefined)
    context.fault(path, `${reason}: a sidecar stands beside its cassette, as "<name>.files/<sha256>"`);
}

function isCall(kind: TrackKind): boolean {
  return kind === "agent" || kind === "model" || kind === "function";
}

function isList(body: Body): body is readonly Frame[] {
  return Array.isArray(body);
}
