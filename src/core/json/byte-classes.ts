import type { Buffer } from 'node:buffer';

export const QUOTE = 34;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const ZERO = 48;
export const NINE = 57;
export const COLON_SIGN = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
/** Sets capital letters to small ones, among others. */
export const SMALL = 32;
export const SMALL_E = 101;

function classOf(has: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (has(byte) ? 1 : 0));
}

/** 1 for a byte that means itself in a string: no control, quote or backslash. */
export const IN_STRING = classOf((byte) => byte >= 32 && byte !== 34 && byte !== 92);

/** The same, only of ASCII. */
export const NAME_BYTE = classOf((byte) => IN_STRING[byte] === 1 && byte < 127);

/** 1 for what a number begins with. */
export const NUMBER_START = classOf((byte) => byte === 45 || (byte >= 48 && byte <= 57));

export const HEX_DIGIT = classOf((byte) => /[0-9a-f]/i.test(String.fromCharCode(byte)));

/** Bytes of an escape by the byte after its backslash; 0 for a byte that escapes nothing. */
export const ESCAPE_LENGTHS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (char === 'u') return 6;
  return '"\\/bfnrt'.includes(char) ? 2 : 0;
});

/** The whole aligned 32-bit words of some bytes. */
export function wordsOf(bytes: Buffer): Int32Array {
  const { buffer, byteOffset, length } = bytes;
  const first = firstWord(bytes);
  const count = Math.max(0, (byteOffset + length - first) >> 2);
  return new Int32Array(buffer, first, count);
}

function firstWord({ byteOffset }: Buffer): number {
  return (byteOffset + 3) & ~3;
}

/**
 * True when a range has a byte below 32.
 *
 * @param words of the same bytes, as {@link wordsOf} gives them: four bytes are judged at once
 */
export function hasControl(
  bytes: Buffer,
  words: Int32Array,
  { from, to }: { from: number; to: number },
): boolean {
  const skew = firstWord(bytes) - bytes.byteOffset;
  const first = Math.max(0, (from - skew + 3) >> 2);
  const last = Math.max(first, (to - skew) >> 2);
  if (last - first < 2) return someControl(bytes, from, to);
  return (
    someControl(bytes, from, first * 4 + skew) ||
    someControlWord(words, first, last) ||
    someControl(bytes, last * 4 + skew, to)
  );
}

function someControl(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    if ((bytes[at] as number) < 32) return true;
  }
  return false;
}

/** A byte below 32 borrows into its own highest bit when 32 is taken from it. */
function someControlWord(words: Int32Array, from: number, to: number): boolean {
  let some = 0;
  let more = 0;
  let at = from;
  for (; at + 1 < to; at += 2) {
    const one = words[at] as number;
    const two = words[at + 1] as number;
    some |= (one - 0x20202020) & ~one;
    more |= (two - 0x20202020) & ~two;
  }
  if (at < to) {
    const one = words[at] as number;
    some |= (one - 0x20202020) & ~one;
  }
  return ((some | more) & 0x80808080) !== 0;
}
