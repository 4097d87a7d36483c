import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/**
 * A PNG picture of 16 × 16 pixels: a face, in two colours.
 *
 * The pixels are stored rather than compressed, so that the bytes are the same on every version of zlib.
 */
export function avatarPng(): Uint8Array {
  const rows = [0x0000, 0x07e0, 0x1ff8, 0x3ffc, 0x3ffc, 0x799e, 0x799e, 0x7ffe];
  rows.push(0x7ffe, 0x7bde, 0x79de, 0x3c3c, 0x3ffc, 0x1ff8, 0x07e0, 0x0000);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(16, 0);
  header.writeUInt32BE(16, 4);
  header[8] = 1; // one bit a pixel
  header[9] = 3; // an index into the palette
  const palette = Buffer.from([0xff, 0xff, 0xff, 0x2f, 0x6f, 0xb5]);
  const lines = Buffer.concat(rows.map((row) => Buffer.from([0, row >> 8, row & 0xff])));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", deflateSync(lines, { level: 0 })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}
