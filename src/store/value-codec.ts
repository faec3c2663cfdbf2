import { damaged, decoding } from './damage.ts';
import { StoreError, type Value } from './store.ts';

/** The largest value, in bytes as stored. */
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;

const MAX_DEPTH = 500;
const JSON_TAG = 'j';
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
 * back as one. Members of objects that are `undefined` are left out, as in JSON. Throws `StoreError`
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
  if (tag === JSON_TAG) return decoding(() => JSON.parse(envelope.toString('utf8', TAG_SIZE)));
  throw damaged('a stored value has an unknown form');
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
  assertJson(value, 0);
  return JSON.stringify(value);
}

function assertJson(value: unknown, depth: number): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) throw invalid('a number that is not finite');
      return;
    case 'object':
      if (value === null) return;
      if (depth >= MAX_DEPTH) throw invalid(`more than ${MAX_DEPTH} levels`);
      if (Array.isArray(value)) for (const item of value) assertJson(item, depth + 1);
      else assertPlain(value, depth);
      return;
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      throw invalid(`a value of type ${typeof value}`);
  }
}

function assertPlain(value: object, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw invalid('an instance of a class');
  for (const member of Object.values(value)) {
    if (member !== undefined) assertJson(member, depth + 1);
  }
}

function invalid(what: string): StoreError {
  return new StoreError('invalid_value', `the store cannot hold ${what}`);
}
