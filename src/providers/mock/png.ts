import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const TRUE_COLOUR = 2;

/** A PNG file of one pixel; red, green and blue from 0 to 255. */
export function encodePng(colour: readonly [number, number, number]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(1, 0);
  header.writeUInt32BE(1, 4);
  header.writeUInt8(8, 8);
  header.writeUInt8(TRUE_COLOUR, 9);
  const row = Buffer.from([0, ...colour]);
  return Buffer.concat([
    SIGNATURE,
    toChunk('IHDR', header),
    toChunk('IDAT', deflateSync(row)),
    toChunk('IEND', Buffer.alloc(0)),
  ]);
}

function toChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
