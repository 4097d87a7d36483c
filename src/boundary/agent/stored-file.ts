import type { Json } from "../../cassette/schema.ts";
import { CassetteInvalid } from "../../errors.ts";
import { decodeBase64, decodeUtf8, encodeBase64 } from "../../wire/bytes.ts";

/**
 * Files in a cassette: `{ "type": "application/pdf", "name": "brief.pdf", "bytes": { "$bytes": … } }`, or `"text"` in
 * place of `"bytes"` where the bytes are a text, so that it can be read and edited, and its secrets can be found.
 */

// What a person can read in an editor: no control character but tab and line ends, no byte order mark.
const READABLE = /^(?!\ufeff)[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/;

/** The stored form of a file's content. Its type is kept, and its name where it has one. */
export async function storedFile(blob: Blob): Promise<Json> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const text = decodeUtf8(bytes);
  const name = (blob as { name?: unknown }).name;
  return {
    type: blob.type,
    ...(typeof name === "string" ? { name } : {}),
    ...(text !== undefined && READABLE.test(text) ? { text } : { bytes: { $bytes: encodeBase64(bytes) } }),
  };
}

/** A file's content again: a `Blob`, or a `File` where it had a name. Throws `CassetteInvalid` for what is no file. */
export function fileFrom(stored: Json | undefined): Blob {
  const { type, name, text, bytes } = (typeof stored === "object" && stored !== null ? stored : {}) as Stored;
  const content = typeof text === "string" ? text : decodeBase64(bytes?.$bytes ?? "?");
  if (typeof type !== "string" || content === undefined) {
    throw new CassetteInvalid(
      `${JSON.stringify(stored)?.slice(0, 120)} is no file: it is { "type", "name"?, and "text" or "bytes": { "$bytes": base64 } }.`,
    );
  }
  const parts = [content as string | Uint8Array<ArrayBuffer>];
  return typeof name === "string" && typeof File !== "undefined"
    ? new File(parts, name, { type })
    : new Blob(parts, { type });
}

interface Stored {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly text?: unknown;
  readonly bytes?: { readonly $bytes?: string };
}
