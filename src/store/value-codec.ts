import { holdsDigits, parseKeepingDigits } from '../core/json/digits.ts';
import { stringifyWithRaw } from '../core/json/raw.ts';
import { damaged, decoding } from './damage.ts';
import { StoreError, type Value } from './store.ts';

/** The largest value, in bytes as stored. */
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;

const MAX_DEPTH = 500;
const JSON_TAG = 'j';
/** Follows the tag where numbers are kept as they were written; to other readers, white space of JSON. */
const DIGITS_MARK = ' ';
const BYTES_TAG = 'b';
const TAG_SIZE = 1;

/** A value that was encoded before: the bytes that {@link toEnvelope} would make of it. */
export class EncodedValue {
  readonly envelope: Buffer;

  constructor(envelope: Buffer) {
    this.envelope = envelope;
  }
}

/**
 * One tag byte, then JSON text or the raw bytes: a `"123"` stays a string and a `Uint8Array` comes
 * back as one. The numbers of `parseKeepingDigits` keep their digits. Members of objects that are `undefined` are left out, as in JSON. Throws `StoreError`
 * `invalid_value` for what JSON would lose (undefined, bigint, functions, NaN, class instances, deep
 * or circular nesting) and `too_large` above {@link MAX_VALUE_BYTES}.
 */
export function toEnvelope(value: Value): Buffer {
  const envelope = encode(value);
  if (envelope.length > MAX_VALUE_BYTES) {
    throw new StoreError('too_large', `a value may take at most ${MAX_VALUE_BYTES} bytes`);
  }
  return envelope;
}

/**
 * The value that {@link toEnvelope} made these bytes of, a fresh copy each time. Like `JSON.parse`
 * it has whatever type its receiver says: the store takes the caller's word on what a key holds.
 */
export function fromEnvelope(envelope: Buffer) {
  const tag = String.fromCharCode(envelope[0] ?? 0);
  if (tag === BYTES_TAG) return Uint8Array.from(envelope.subarray(TAG_SIZE));
  if (tag === JSON_TAG) {
    const text = envelope.toString('utf8', TAG_SIZE);
    return decoding(() => (hasDigits(envelope) ? parseKeepingDigits(text) : JSON.parse(text)));
  }
  throw damaged('a stored value has an unknown form');
}

/** True for JSON whose numbers are kept as they were written. */
export function hasDigits(envelope: Buffer): boolean {
  return envelope[TAG_SIZE] === DIGITS_MARK.charCodeAt(0) && envelope[0] === JSON_TAG.charCodeAt(0);
}

/** Levels of nesting that the holder of a value may add to it. */
const OUTER_LEVELS = 8;

/**
 * True for parsed JSON that a value can hold as one of its members: a number such as `1e400` is parsed as
 * one that is not finite.
 */
export function isStorable(json: unknown): boolean {
  try {
    assertJson(json, OUTER_LEVELS);
    return true;
  } catch {
    return false;
  }
}

function encode(value: Value): Buffer {
  if (value instanceof EncodedValue) return value.envelope;
  return value instanceof Uint8Array ? tagBytes(value) : Buffer.from(JSON_TAG + toJson(value));
}

function tagBytes(bytes: Uint8Array): Buffer {
  if (bytes.length >= MAX_VALUE_BYTES) {
    throw new StoreError('too_large', `a value may take at most ${MAX_VALUE_BYTES} bytes`);
  }
  return Buffer.concat([Buffer.from(BYTES_TAG), bytes]);
}

function toJson(value: Value): string {
  return assertJson(value, 0) ? DIGITS_MARK + stringifyWithRaw(value) : JSON.stringify(value);
}

/** Returns true for a value with numbers that are kept as they were written. */
function assertJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return false;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid('a number that is not finite');
    return false;
  }
  if (typeof value !== 'object') throw invalid(`a value of type ${typeof value}`);
  if (depth >= MAX_DEPTH) throw invalid(`more than ${MAX_DEPTH} levels`);
  const isArray = Array.isArray(value);
  if (!isArray) assertPlain(value);
  let isKept = false;
  let hasNumber = false;
  for (const member of isArray ? value : Object.values(value)) {
    if (member === undefined && !isArray) continue;
    if (typeof member === 'number') hasNumber = true;
    if (assertJson(member, depth + 1)) isKept = true;
  }
  return isKept || (hasNumber && holdsDigits(value));
}

function assertPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw invalid('an instance of a class');
}

function invalid(what: string): StoreError {
  return new StoreError('invalid_value', `the store cannot hold ${what}`);
}
