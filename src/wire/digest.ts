import { encodeUtf8 } from "./bytes.ts";
import { pureCrc32, pureSha256 } from "./digest-pure.ts";

/**
 * Digests, synchronous and on every platform: the runtime's own where it can be asked for without an import, else the
 * small implementations of digest-pure.ts. Texts are digested as UTF-8.
 */

type Builtin = (id: string) => unknown;
interface Crypto {
  hash?(algorithm: string, data: Uint8Array | string, encoding: "hex" | "base64url" | "buffer"): never;
  createHash(algorithm: string): { update(data: Uint8Array | string): { digest(): Uint8Array } };
}

const builtin = (globalThis as { process?: { getBuiltinModule?: Builtin } }).process?.getBuiltinModule;
const crypto = builtin?.("node:crypto") as Crypto | undefined;
const nativeCrc32 = (builtin?.("node:zlib") as { crc32?: (data: Uint8Array | string) => number } | undefined)?.crc32;

/** The 32 bytes of the SHA-256, in fresh memory. */
export function sha256(data: Uint8Array | string): Uint8Array {
  if (crypto === undefined) return pureSha256(bytesOf(data));
  const digest: Uint8Array = crypto.hash
    ? crypto.hash("sha256", data, "buffer")
    : crypto.createHash("sha256").update(data).digest();
  return new Uint8Array(digest);
}

/** The SHA-256 as 64 lower-case hexadecimal digits. */
export function sha256Hex(data: Uint8Array | string): string {
  if (crypto?.hash) return crypto.hash("sha256", data, "hex");
  return hex(sha256(data));
}

/** The SHA-256 as 43 characters of base64url, unpadded. */
export function sha256Base64url(data: Uint8Array | string): string {
  if (crypto?.hash) return crypto.hash("sha256", data, "base64url");
  return base64url(sha256(data));
}

/** The CRC-32 of zip, gzip and PNG: an unsigned 32-bit number. A check against accidents only. */
export function crc32(data: Uint8Array | string): number {
  return nativeCrc32 ? nativeCrc32(data) : pureCrc32(bytesOf(data));
}

/** Bytes as lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** Bytes as unpadded base64url. */
export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const length = Math.min(bytes.length - i, 3) + 1;
    for (let k = 0; k < length; k++) text += alphabet[(group >>> (18 - 6 * k)) & 63]!;
  }
  return text;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? encodeUtf8(data) : data;
}
