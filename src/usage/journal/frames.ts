import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/** Lines that were written at once: all of them count, or none. */
export interface Frame {
  /** Number of the first line; the others follow it. */
  readonly first: number;
  /** Lines without their ends. */
  readonly lines: readonly Buffer[];
}

export interface FrameParts {
  readonly first: number;
  readonly count: number;
  /** Whole lines, each with its end, cut anywhere. */
  readonly parts: readonly Buffer[];
}

const END = 0x0a;
const HEAD = /^#(\d{1,16}) (\d{1,9}) (\d{1,12}) ([0-9a-f]{1,8})$/;

/** Line before a frame: its first number, its count of lines, its bytes and a checksum over all. */
export function toFrameHead({ first, count, parts }: FrameParts): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  let sum = seedOf(first, count);
  for (const part of parts) sum = crc32(part, sum);
  return Buffer.from(`#${first} ${count} ${size} ${sum.toString(16)}\n`, 'latin1');
}

/**
 * Frames up to the first incomplete one. Later bytes were never acknowledged: a frame is cut short only by the
 * end of its writer or by a full disk.
 */
export function* readFrames(bytes: Buffer): Generator<Frame> {
  let at = 0;
  for (;;) {
    const start = bytes.indexOf(END, at) + 1;
    const head = start === 0 ? null : HEAD.exec(bytes.toString('latin1', at, start - 1));
    if (!head) return;
    const [first, count, size] = [Number(head[1]), Number(head[2]), Number(head[3])];
    const body = bytes.subarray(start, start + size);
    if (body.length < size || crc32(body, seedOf(first, count)).toString(16) !== head[4]) return;
    yield { first, lines: toLines(body) };
    at = start + size;
  }
}

function toLines(body: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let at = 0;
  for (let end = body.indexOf(END); end >= 0; end = body.indexOf(END, at)) {
    lines.push(body.subarray(at, end));
    at = end + 1;
  }
  return lines;
}

const seedOf = (first: number, count: number): number => crc32(`${first} ${count}`);
