/** Bytes and the texts they stand for. Nothing here guesses: what is not valid is `undefined`. */

const encoder = new TextEncoder();
// `ignoreBOM` keeps a leading byte order mark in the text: the default drops it, and three bytes are lost.
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of a text. A lone surrogate becomes U+FFFD, as the platform does it. */
export function encodeUtf8(text: string): Uint8Array {
  if (text.length > 64) return encoder.encode(text);
  // Calling the platform costs more than the work where there is little of it.
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return encoder.encode(text);
    bytes[i] = unit;
  }
  return bytes;
}

/** The text of valid UTF-8, a leading byte order mark kept; `undefined` where the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined; // not UTF-8: the only way in which a fatal decoder fails
  }
}

/** Joins pieces into fresh memory. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** Whether two byte strings are the same. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** One code point a byte: the form in which offsets in the text are offsets in the bytes. */
export function decodeLatin1(bytes: Uint8Array): string {
  if (typeof Buffer !== "undefined")
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return text;
}

/** The bytes of a Latin-1 text; code points above U+00FF are cut to their low byte. */
export function encodeLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  if (typeof Buffer !== "undefined")
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return btoa(decodeLatin1(bytes));
}

/** The bytes of canonical base64 (padded, standard alphabet, no white space, no stray bits), else `undefined`. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = typeof Buffer !== "undefined" ? new Uint8Array(Buffer.from(text, "base64")) : decodeWithAtob(text);
  // "QQ==" and "QR==" decode alike, and what is no base64 is skipped; only what an encoder prints comes out the same.
  return bytes !== undefined && encodeBase64(bytes) === text ? bytes : undefined;
}

function decodeWithAtob(text: string): Uint8Array | undefined {
  // It throws at other characters.
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? encodeLatin1(atob(text)) : undefined;
}

/** How many bytes the UTF-8 of a text has. */
export function utf8Length(text: string): number {
  return typeof Buffer !== "undefined" ? Buffer.byteLength(text) : encoder.encode(text).length;
}
