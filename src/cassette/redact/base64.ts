import { decodeBase64, decodeUtf8 } from "../../wire/bytes.ts";

/** The bytes behind base64 in either alphabet, padded or not; `undefined` where it is none. */
export function decodeEitherBase64(text: string): Uint8Array | undefined {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return decodeBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, "="));
}

/** The UTF-8 text behind base64 in either alphabet, padded or not; `undefined` where it is none. */
export function textOfBase64(text: string): string | undefined {
  const bytes = decodeEitherBase64(text);
  return bytes && decodeUtf8(bytes);
}

/** Base64 in the alphabet of URLs. */
export const toUrlAlphabet = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
