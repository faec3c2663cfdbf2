import { randomBytes } from 'node:crypto';
import type { Clock } from './time/clock.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10;
const COUNT_DIGITS = 3;
const RANDOM_DIGITS = 13;
const MAX_COUNT = 32 ** COUNT_DIGITS;

/** Makes ids of the form `prefix_<10 digits of time><3 of count><13 random>` in Crockford base 32. */
export interface IdSource {
  next(prefix: string): string;
}

/**
 * Ids sort by creation time (millisecond), those of one source in the order in which they were made:
 * what one configuration creates keeps its order. 65 random bits make a clash within one millisecond
 * practically impossible without any coordination between workers.
 */
export function createIdSource(
  clock: Clock,
  random: (size: number) => Buffer = pooledRandom(),
): IdSource {
  let lastAt = 0;
  let time = encode(0, TIME_DIGITS);
  let count = 0;
  return {
    next(prefix) {
      const at = clock.now();
      count = at === lastAt ? (count + 1) % MAX_COUNT : 0;
      if (at !== lastAt) time = encode(at, TIME_DIGITS);
      lastAt = at;
      return `${prefix}_${time}${encode(count, COUNT_DIGITS)}${encodeRandom(random(RANDOM_DIGITS))}`;
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

function encode(value: number, length: number): string {
  let rest = value;
  let digits = '';
  for (let i = 0; i < length; i++) {
    digits = ALPHABET[rest % 32] + digits;
    rest = Math.floor(rest / 32);
  }
  return digits;
}

/** Every pair of digits: half the strings to be put together. */
const PAIRS = Array.from({ length: 32 ** 2 }, (_, value) => encode(value, 2));

function encodeRandom(bytes: Buffer): string {
  let digits = '';
  for (let i = 1; i < RANDOM_DIGITS; i += 2) {
    digits += PAIRS[(((bytes[i - 1] ?? 0) & 31) << 5) | ((bytes[i] ?? 0) & 31)];
  }
  return digits + ALPHABET[(bytes[RANDOM_DIGITS - 1] ?? 0) & 31];
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
