import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { base64url, crc32, hex, sha256, sha256Base64url, sha256Hex } from "../../src/wire/digest.ts";
import { pureCrc32, pureSha256 } from "../../src/wire/digest-pure.ts";

const bytes = fc.uint8Array({ maxLength: 300 });

test("published vectors", () => {
  // FIPS 180-2 appendix B, and the check value of CRC-32/ISO-HDLC.
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(hex(pureSha256(new TextEncoder().encode("abc")))).toBe(sha256Hex("abc"));
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(pureCrc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
});

test("the pure implementations agree with the platform's, at every length around a block", () => {
  for (let length = 0; length < 200; length++) {
    const data = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255);
    expect(pureSha256(data)).toEqual(sha256(data));
  }
  fc.assert(
    fc.property(bytes, (data) => {
      expect(pureSha256(data)).toEqual(sha256(data));
      expect(pureCrc32(data)).toBe(crc32(data));
    }),
  );
});

test("the encodings are those of node:crypto", () => {
  fc.assert(
    fc.property(bytes, (data) => {
      expect(sha256Base64url(data)).toBe(createHash("sha256").update(data).digest("base64url"));
      expect(sha256Hex(data)).toBe(createHash("sha256").update(data).digest("hex"));
      expect(base64url(data)).toBe(Buffer.from(data).toString("base64url"));
    }),
  );
});

test("a text is digested as UTF-8", () => {
  const text = "é😀\ud800";
  expect(sha256(text)).toEqual(sha256(new TextEncoder().encode(text)));
  expect(crc32(text)).toBe(pureCrc32(new TextEncoder().encode(text)));
});
