import { contentText } from "../cassette/content.ts";
import type { Frame, ServerSentEvent, Style, Track } from "../cassette/schema.ts";
import { encodeUtf8 } from "../wire/bytes.ts";

/** How many bytes a frame stands for; `undefined` for a value, which stands for none. No sidecar is read. */
export function frameSize(frame: Frame, style: Style | undefined): number | undefined {
  if (frame.value !== undefined) return undefined;
  if (frame.file !== undefined) return frame.file.size;
  if (frame.base64 !== undefined) return (frame.base64.length / 4) * 3 - (/=*$/.exec(frame.base64)?.[0].length ?? 0);
  return encodeUtf8(contentText(frame, style) ?? "").length;
}

/** What a frame says, for people: a tree as compact JSON, an event without the noise of its framing. */
export function frameContent(frame: Frame): string {
  if (frame.sse !== undefined) return eventContent(frame.sse);
  if (frame.json !== undefined) return JSON.stringify(frame.json);
  if (frame.line !== undefined) return JSON.stringify(frame.line);
  if (frame.value !== undefined) return JSON.stringify(frame.value);
  if (frame.text !== undefined) return frame.text;
  return frame.file?.path ?? frame.base64 ?? "";
}

function eventContent(event: ServerSentEvent): string {
  const parts = Object.entries(event).map(([field, value]) => {
    if (field === "json") return JSON.stringify(value);
    if (field === "data") return String(value);
    if (field === "ended") return "(no blank line at its end)";
    return `${field === "comment" ? "" : field}: ${value}`;
  });
  return parts.join("  ");
}

/** The frames of an answer, or of both sides of a conversation, and the style that applies to them. */
export function framesOf(track: Track): { frames: readonly Frame[]; style: Style | undefined } {
  if (track.kind === "http") {
    const { body, style } = track.response ?? {};
    return { frames: bodyFrames(body), style };
  }
  return { frames: ("call" in track ? track.events : track.frames) ?? [], style: track.style };
}

/** A body as a list. */
export function bodyFrames(body: Frame | readonly Frame[] | undefined): readonly Frame[] {
  if (body === undefined) return [];
  return Array.isArray(body) ? (body as readonly Frame[]) : [body as Frame];
}

/** The content key of a frame. */
export function contentForm(frame: Frame): string {
  return (
    (["sse", "json", "line", "text", "base64", "file", "value"] as const).find((key) => frame[key] !== undefined) ?? ""
  );
}
