import { decodeLatin1, decodeUtf8, encodeLatin1, encodeUtf8 } from "../../wire/bytes.ts";

const notAscii = /[^\x00-\x7f]/;
const loneSurrogate = /([\ud800-\udfff])/u;

/**
 * Maps a text of characters as a byte text (UTF-8, one code point a byte), which is what everything here looks at. The
 * very same text is returned where nothing changed; a lone surrogate, which has no UTF-8, stays as it is.
 */
export function mapCharacters(text: string, map: (bytes: string) => string): string {
  if (!notAscii.test(text)) return map(text);
  if (loneSurrogate.test(text)) {
    return text
      .split(loneSurrogate)
      .map((part, i) => (i % 2 === 1 ? part : mapCharacters(part, map)))
      .join("");
  }
  const bytes = decodeLatin1(encodeUtf8(text));
  const mapped = map(bytes);
  return mapped === bytes ? text : (decodeUtf8(encodeLatin1(mapped)) ?? mapped);
}
