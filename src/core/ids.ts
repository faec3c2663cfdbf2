import { randomBytes } from 'node:crypto';
import type { Clock } from './time/clock.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Bits of one digit. */
const BITS = 5;
const TIME_DIGITS = 10;
const COUNT_DIGITS = 3;
const RANDOM_DIGITS = 13;
const MAX_COUNT = 32 ** COUNT_DIGITS;

/** Makes ids of the form `prefix_<10 digits of time><3 of count><13 random>` in Crockford base 32. */
export interface IdSource {
  next(prefix: string): string;
}

/**
 * Ids sort by creation time (millisecond), those of one source in the order in which they were made: objects
 * that one configuration creates keep its order. 65 random bits make a clash within one millisecond practically
 * impossible without any coordination between workers.
 */
export function createIdSource(
  clock: Clock,
  random: (size: number) => Buffer = pooledRandom(),
): IdSource {
  let lastAt = 0;
  let time = encode(0, TIME_DIGITS);
  let count = 0;
  const codes = Array.from({ length: COUNT_DIGITS + RANDOM_DIGITS }, () => 0);
  return {
    next(prefix) {
      const at = clock.now();
      count = at === lastAt ? (count + 1) % MAX_COUNT : 0;
      if (at !== lastAt) time = encode(at, TIME_DIGITS);
      lastAt = at;
      for (let place = 0; place < COUNT_DIGITS; place++)
        codes[place] = codeOf(count >> (BITS * (COUNT_DIGITS - 1 - place)));
      const bytes = random(RANDOM_DIGITS);
      for (let place = 0; place < RANDOM_DIGITS; place++)
        codes[COUNT_DIGITS + place] = codeOf(bytes[place] ?? 0);
      // One piece: a string put together digit by digit takes five times the memory.
      return `${prefix}_${time}${String.fromCharCode(...codes)}`;
    },
  };
}

/** The creation instant (ms since epoch) that an id of {@link createIdSource} carries, or undefined. */
export function idTime(id: string): number | undefined {
  const body = id.slice(id.lastIndexOf('_') + 1);
  if (body.length !== TIME_DIGITS + COUNT_DIGITS + RANDOM_DIGITS) return undefined;
  let time = 0;
  for (const digit of body.slice(0, TIME_DIGITS)) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return undefined;
    time = time * 32 + value;
  }
  return time;
}

const CODES = Array.from(ALPHABET, (digit) => digit.charCodeAt(0));

/** Character code of the digit of the lowest bits. */
const codeOf = (value: number): number => CODES[value & (CODES.length - 1)] ?? 0;

function encode(value: number, length: number): string {
  let rest = value;
  let digits = '';
  for (let i = 0; i < length; i++) {
    digits = ALPHABET[rest % 32] + digits;
    rest = Math.floor(rest / 32);
  }
  return digits;
}

/** One call into the system's generator per 4 KiB: an id per request must not cost a system call. */
function pooledRandom(poolSize = 4096): (size: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (used + size > pool.length) {
      pool = randomBytes(poolSize);
      used = 0;
    }
    return pool.subarray(used, (used += size));
  };
}
