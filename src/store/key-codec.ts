import { damaged, decoding } from './damage.ts';
import { StoreError, type Key, type KeyPart } from './store.ts';

/** The longest key, in encoded bytes, that every backend takes. */
export const MAX_KEY_BYTES = 1_900;

const NUMBER = 0x10;
const STRING = 0x20;
const END = 0x00;
/** Follows a NUL inside a string; greater than every tag, so the longer string still sorts after. */
const ESCAPED = 0xff;
const BEFORE_TAGS = 0x01;
const BEHIND_TAGS = 0x7f;
const NUMBER_SIZE = 9;
const MAX_BYTES_PER_UNIT = 3;

/** Exclusive bounds of an ordered walk; no key ever equals one. */
export interface KeyRange {
  readonly lower: Buffer;
  readonly upper: Buffer;
}

/**
 * Bytes whose unsigned order is the order of keys: segment by segment, numbers (numerically) before
 * strings (by code point). Each segment marks its own end, so no two keys collide and no prefix
 * bleeds into its neighbour. `-0` is `0`. Throws `StoreError` `invalid_key` for an empty key, a
 * number that is not finite, or more than {@link MAX_KEY_BYTES}.
 */
export function encodeKey(key: Key): Buffer {
  if (key.length === 0) throw new StoreError('invalid_key', 'a key needs at least one segment');
  return encodeSegments(key);
}

/** The range of all keys that begin with the whole segments of `prefix`, itself excluded. */
export function toKeyRange(prefix: Key): KeyRange {
  const segments = encodeSegments(prefix);
  return {
    lower: Buffer.concat([segments, Buffer.of(BEFORE_TAGS)]),
    upper: Buffer.concat([segments, Buffer.of(BEHIND_TAGS)]),
  };
}

/** The key that {@link encodeKey} made these bytes of. */
export function decodeKey(bytes: Buffer): Key {
  return decoding(() => readSegments(bytes));
}

function readSegments(bytes: Buffer): Key {
  const key: KeyPart[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = segmentEnd(bytes, at);
    key.push(bytes[at] === NUMBER ? readNumber(bytes, at + 1) : readString(bytes, at + 1, end - 1));
    at = end;
  }
  return key;
}

/** The first `count` whole segments of an encoded key, or all of it when it has fewer. */
export function keyHead(bytes: Buffer, count: number): Buffer {
  let end = 0;
  for (let i = 0; i < count && end < bytes.length; i++) end = segmentEnd(bytes, end);
  return bytes.subarray(0, end);
}

/** Empty for a prefix of no segments; the caller judges whether that is allowed. */
export function encodeSegments(key: Key): Buffer {
  let least = 0;
  for (const part of key) least += typeof part === 'string' ? part.length + 2 : NUMBER_SIZE;
  if (least > MAX_KEY_BYTES) throw tooLong();
  const out = Buffer.allocUnsafe(least * MAX_BYTES_PER_UNIT);
  let end = 0;
  for (const part of key) {
    end = typeof part === 'string' ? writeString(out, end, part) : writeNumber(out, end, part);
  }
  if (end > MAX_KEY_BYTES) throw tooLong();
  return out.subarray(0, end);
}

function tooLong(): StoreError {
  return new StoreError('invalid_key', `a key may take at most ${MAX_KEY_BYTES} bytes`);
}

/** IEEE 754 sorts as unsigned bytes once the sign is flipped and negatives are inverted. */
function writeNumber(out: Buffer, at: number, part: number): number {
  if (!Number.isFinite(part)) {
    throw new StoreError('invalid_key', 'a key segment is a string or a finite number');
  }
  const end = at + NUMBER_SIZE;
  out[at] = NUMBER;
  out.writeDoubleBE(part === 0 ? 0 : part, at + 1);
  if (part < 0) for (let i = at + 1; i < end; i++) out[i] = ~out[i]!;
  else out[at + 1] = out[at + 1]! | 0x80;
  return end;
}

/** UTF-8, except that a lone surrogate keeps its own three bytes instead of becoming U+FFFD. */
function writeString(out: Buffer, start: number, part: string): number {
  let at = start;
  out[at++] = STRING;
  for (let i = 0; i < part.length; i++) {
    const unit = part.charCodeAt(i);
    if (unit === 0) {
      out[at++] = END;
      out[at++] = ESCAPED;
    } else if (unit < 0x80) out[at++] = unit;
    else {
      const code = part.codePointAt(i)!;
      if (code > 0xffff) i++;
      at = writeCodePoint(out, at, code);
    }
  }
  out[at++] = END;
  return at;
}

function writeCodePoint(out: Buffer, start: number, code: number): number {
  let at = start;
  if (code < 0x800) out[at++] = 0xc0 | (code >> 6);
  else {
    if (code < 0x10000) out[at++] = 0xe0 | (code >> 12);
    else {
      out[at++] = 0xf0 | (code >> 18);
      out[at++] = 0x80 | ((code >> 12) & 0x3f);
    }
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
  }
  out[at++] = 0x80 | (code & 0x3f);
  return at;
}

/** The offset after the segment that starts at `at`. */
function segmentEnd(bytes: Buffer, at: number): number {
  if (bytes[at] === NUMBER) return at + NUMBER_SIZE;
  let end = bytes.indexOf(END, at + 1);
  while (end >= 0 && bytes[end + 1] === ESCAPED) end = bytes.indexOf(END, end + 2);
  if (end < 0) throw damaged('a stored key has no end');
  return end + 1;
}

function readNumber(bytes: Buffer, at: number): number {
  const copy = Buffer.from(bytes.subarray(at, at + NUMBER_SIZE - 1));
  const first = copy[0]!;
  if (first & 0x80) copy[0] = first & 0x7f;
  else for (let i = 0; i < copy.length; i++) copy[i] = ~copy[i]!;
  return copy.readDoubleBE();
}

function readString(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  // U+FFFD also replaces sequences that the strict decoder does not know: an escaped NUL, a lone surrogate.
  return text.includes('\ufffd') ? readCodePoints(bytes, start, end) : text;
}

function readCodePoints(bytes: Buffer, start: number, end: number): string {
  let text = '';
  let at = start;
  while (at < end) {
    const lead = bytes[at++]!;
    if (lead === END) at++;
    let more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    let code = more === 0 ? lead : lead & (0x3f >> more);
    for (; more > 0; more--) code = (code << 6) | (bytes[at++]! & 0x3f);
    text += String.fromCodePoint(code);
  }
  return text;
}
