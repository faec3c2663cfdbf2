import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

export interface ZipEntry {
  /** Path with `/` between folders. */
  path: string;
  bytes: Buffer;
}

const VERSION = 20;
/** Length of a local header before the name. */
const LOCAL_BYTES = 30;
/** Names are UTF-8 (general purpose bit 11). */
const UTF8_NAMES = 0x0800;

/** An archive of files as they are, uncompressed (APPNOTE 4.3); small files, below 4 GiB in all. */
export function toZip(entries: readonly ZipEntry[], at: Date): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, bytes } of entries) {
    const name = Buffer.from(path);
    const facts = factsOf(bytes, name, at);
    const local = Buffer.concat([words(0x04034b50), facts, name, bytes]);
    bodies.push(local);
    directory.push(words(0x02014b50), halves(VERSION), facts, halves(0, 0, 0), words(0, offset));
    directory.push(name);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const count = entries.length;
  const end = [words(0x06054b50), halves(0, 0, count, count), words(central.length, offset)];
  return Buffer.concat([...bodies, central, ...end, halves(0)]);
}

/**
 * The files of an archive that {@link toZip} made. Throws a plain `Error` for anything else, or for one
 * that is damaged.
 */
export function fromZip(archive: Buffer): ZipEntry[] {
  const end = archive.length - 22;
  if (end < 0 || archive.readUInt32LE(end) !== 0x06054b50) throw damaged();
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (at + 46 > end || archive.readUInt32LE(at) !== 0x02014b50) throw damaged();
    const size = archive.readUInt32LE(at + 24);
    const nameLength = archive.readUInt16LE(at + 28);
    const path = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const start = archive.readUInt32LE(at + 42) + LOCAL_BYTES + nameLength;
    const bytes = archive.subarray(start, start + size);
    if (bytes.length !== size || crc32(bytes) !== archive.readUInt32LE(at + 16)) throw damaged();
    entries.push({ path, bytes });
    at += 46 + nameLength;
  }
  return entries;
}

function damaged(): Error {
  return new Error('the archive is damaged');
}

/** Fields that the local header and the directory share. */
function factsOf(bytes: Buffer, name: Buffer, at: Date): Buffer {
  return Buffer.concat([
    halves(VERSION, UTF8_NAMES, 0, timeOf(at), dateOf(at)),
    words(crc32(bytes), bytes.length, bytes.length),
    halves(name.length, 0),
  ]);
}

function timeOf(at: Date): number {
  return (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
}

function dateOf(at: Date): number {
  return ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
}

function halves(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2);
  return bytes;
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}
