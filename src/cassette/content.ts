import { CassetteInvalid, OptionInvalid } from "../errors.ts";
import { decodeBase64, encodeUtf8 } from "../wire/bytes.ts";
import { encodeJson } from "../wire/json.ts";
import { encodeEvent } from "../wire/sse.ts";
import type { Frame, Sidecar, Style } from "./schema.ts";

/** The keys of which a frame has exactly one. */
export const CONTENT_KEYS = ["json", "line", "sse", "text", "base64", "file", "value"] as const;

export type ContentKey = (typeof CONTENT_KEYS)[number];

/** Reads a sidecar file; it is asked for the bytes each time they are needed. */
export type ReadSidecar = (file: Sidecar) => Uint8Array;

/**
 * The bytes that a frame stands for, in fresh memory. `style` is that of the body; a frame's own replaces it whole.
 * Throws `CassetteInvalid` for a frame that stands for no bytes, `OptionInvalid` for a `file` without a `sidecar`.
 */
export function encodeContent(frame: Frame, style: Style | undefined, sidecar?: ReadSidecar): Uint8Array {
  const text = contentText(frame, style);
  if (text !== undefined) return encodeUtf8(text);
  if (frame.base64 !== undefined) return fromBase64(frame.base64);
  if (frame.file === undefined) throw new CassetteInvalid(noBytes(frame), { keys: Object.keys(frame) });
  if (sidecar === undefined)
    throw new OptionInvalid(
      `The frame's bytes are in the file ${JSON.stringify(frame.file.path)}, and nothing was given to read it with. ` +
        "Pass `sidecar`.",
      { file: frame.file.path },
    );
  return new Uint8Array(sidecar(frame.file)); // a copy, also where a store hands out a Node Buffer
}

/** The text of `json`, `line`, `sse` or `text`; `undefined` for what is not written as text. */
export function contentText(frame: Frame, style: Style | undefined): string | undefined {
  if (frame.sse !== undefined) return encodeEvent(frame.sse, frame.style ?? style, frame.pad);
  if (frame.json !== undefined) return encodeJson(frame.json, (frame.style ?? style)?.json, frame.pad);
  if (frame.line !== undefined) return `${encodeJson(frame.line, (frame.style ?? style)?.json, frame.pad)}\n`;
  return frame.text;
}

function fromBase64(base64: string): Uint8Array {
  const bytes = decodeBase64(base64);
  if (bytes !== undefined) return bytes;
  throw new CassetteInvalid(
    `A frame's \`base64\` is not base64: it begins with ${JSON.stringify(base64.slice(0, 40))}. ` +
      "It has to be in the standard alphabet, padded with `=`, without white space.",
  );
}

function noBytes(frame: Frame): string {
  const what = frame.value !== undefined ? "`value`, which stands for no bytes" : "no content";
  return `A frame of bytes holds ${what}. It has to hold one of ${CONTENT_KEYS.slice(0, -1).join(", ")}.`;
}
