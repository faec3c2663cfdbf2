import { Buffer } from 'node:buffer';
import { LONG_BYTES } from '../turns/in-turns.ts';
import type { Steps } from '../turns/in-turns.ts';
import { digitsOf, holdsDigits } from './digits.ts';
import { RawJson, stringifyWithRaw } from './raw.ts';

/** Characters, about, that are written at once. */
const BATCH_CHARS = 16 * 1024;
/** Characters of a text that are written at once. */
const TEXT_CHARS = 128 * 1024;
/** Characters that a value takes in addition to its texts. */
const VALUE_CHARS = 8;

/** The bytes of `stringifyWithRaw`, written in steps of some hundred microseconds. */
export function* writeSteps(value: unknown): Steps<Buffer> {
  const output = new Output();
  yield* write(value, output);
  return output.end();
}

/** True for what takes more than {@link LONG_BYTES} bytes or so, and is better written in steps. */
export function isLong(value: unknown): boolean {
  return leftOf(value, LONG_BYTES) <= 0;
}

/** Collects the written pieces as bytes. */
class Output {
  readonly #pieces: Buffer[] = [];
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > BATCH_CHARS) this.#flush();
  }

  end(): Buffer {
    this.#flush();
    return Buffer.concat(this.#pieces);
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function* write(value: unknown, output: Output): Steps<void> {
  if (leftOf(value, BATCH_CHARS) > 0) output.add(stringifyWithRaw(value));
  else if (typeof value === 'string') yield* writeText(value, output);
  else if (value instanceof RawJson) yield* writeRaw(value.text, output);
  else if (Array.isArray(value)) yield* writeArray(withDigits(value), output);
  else yield* writeObject(value as Record<string, unknown>, output);
}

/** A slice of the array is written by itself, and has no digits of its own. */
function withDigits(array: readonly unknown[]): readonly unknown[] {
  return holdsDigits(array) ? array.map((_, index) => memberOf(array, index)) : array;
}

function memberOf(holder: object, key: string | number): unknown {
  const digits = digitsOf(holder, key);
  return digits === undefined
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : new RawJson(digits);
}

function* writeArray(array: readonly unknown[], output: Output): Steps<void> {
  output.add('[');
  let left = BATCH_CHARS;
  let from = 0;
  const flush = (to: number): void => {
    if (to === from) return;
    const text = stringifyWithRaw(array.slice(from, to));
    output.add(`${text.slice(1, -1)}${to < array.length ? ',' : ''}`);
    from = to;
    left = BATCH_CHARS;
  };
  for (let index = 0; index < array.length; index++) {
    left = leftOf(array[index], left) - 1;
    if (left > 0) continue;
    flush(index);
    yield;
    left = leftOf(array[index], BATCH_CHARS) - 1;
    if (left > 0) continue;
    yield* write(array[index], output);
    if (index + 1 < array.length) output.add(',');
    from = index + 1;
    left = BATCH_CHARS;
  }
  flush(array.length);
  output.add(']');
}

function* writeObject(object: Readonly<Record<string, unknown>>, output: Output): Steps<void> {
  let separator = '{';
  let left = BATCH_CHARS;
  for (const name of Object.keys(object)) {
    const member = memberOf(object, name);
    if (member === undefined) continue;
    output.add(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    left = leftOf(member, left - name.length);
    if (left <= 0) {
      left = BATCH_CHARS;
      yield;
    }
    yield* write(member, output);
  }
  output.add(separator === '{' ? '{}' : '}');
}

function* writeText(text: string, output: Output): Steps<void> {
  output.add('"');
  for (const piece of piecesOf(text)) {
    output.add(JSON.stringify(piece).slice(1, -1));
    yield;
  }
  output.add('"');
}

function* writeRaw(text: string, output: Output): Steps<void> {
  for (const piece of piecesOf(text)) {
    output.add(piece);
    yield;
  }
}

/** Ends inside no pair of surrogates. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = from + TEXT_CHARS;
    if (isHighSurrogate(text.charCodeAt(to - 1))) to++;
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

/** Rest of a budget of characters after a value; not above 0: the rest of the value was not read. */
function leftOf(value: unknown, budget: number): number {
  let left = budget - VALUE_CHARS;
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left;
  if (value instanceof RawJson) return left - value.text.length;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left > 0; index++)
      left = leftOf(value[index], left);
    return left;
  }
  const object = value as Record<string, unknown>;
  for (const name in object) {
    if (left <= 0) break;
    left = leftOf(object[name], left - name.length);
  }
  return left;
}
