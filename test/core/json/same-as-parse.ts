import { isUtf8 } from 'node:buffer';
import { deepStrictEqual } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { JsonDocument } from '../../../src/core/json/json-document.ts';
import { membersAt } from '../../../src/core/json/elements.ts';
import { Marks } from '../../../src/core/json/marks.ts';
import { JsonScanner } from '../../../src/core/json/scanner.ts';

const MARK = 'asset:';
const MARKS = new Marks([MARK]);

/** Whole numbers from 0 to below a bound. */
export type Draw = (bound: number) => number;

/** The same numbers for the same seed. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const BLANKS = ['', '', '', '', ' ', '\n', '\t', '\r', '  ', ' \n\t'];
const NUMBERS = ['0', '-0', '1', '42', '-1.5', '1e3', '2E-7', '1.0', '9007199254740993', '1e400'];
const BROKEN_NUMBERS = ['01', '-', '1.', '.5', '+1', '1e', '1e+', '0x1', 'NaN', 'Infinity', '--1'];
const WORDS = ['true', 'false', 'null'];
const BROKEN_WORDS = ['True', 'nul', 'undefined', 'truefalse', "'x'", '//', '/**/'];
const ESCAPES = ['\\n', '\\"', '\\\\', '\\/', '\\b', '\\u0041', '\\ud83d\\ude00', '\\u00e9'];
const ODD_ESCAPES = ['\\ud800', '\\udc00\\ud800', '\\u2028', '\\u0000', '\\u005f', '\\u0061'];
const BROKEN_ESCAPES = ['\\x', '\\u12', '\\u12g4', '\\', '\\U0041', "\\'", '\\0'];
const RAW = ['\u0000', '\u001f', '\n', '\t', '\u007f', '\u2028', '\ufeff', 'é', '€', '😀'];
const TEXTS = ['', 'a', 'model', 'asset:x', '__proto__', 'constructor', 'x'.repeat(40), '}],:{['];
const KEYS = ['model', 'stream', 'n', 'a', '__proto__', '', 'mo\\u0064el', 'é', 'usage', 'choices'];
const SIGNS = `,:[]{}"\\-+.0eE1tfn /\u0000\n\u00a0\ufeff`.split('');
const DAMAGE = [...SIGNS, '\\u', '""', ',,', '}}', '[]'];

const pick = (draw: Draw, list: readonly string[]): string => list[draw(list.length)] as string;

function text(draw: Draw): string {
  let inside = '';
  for (let left = draw(4); left > 0; left--) {
    const kind = draw(40);
    if (kind < 16) inside += pick(draw, TEXTS);
    else if (kind < 26) inside += pick(draw, ESCAPES);
    else if (kind < 31) inside += pick(draw, ODD_ESCAPES);
    else if (kind < 37) inside += pick(draw, RAW.slice(4));
    else if (kind < 38) inside += 'long text '.repeat(draw(30));
    else inside += pick(draw, kind === 38 ? BROKEN_ESCAPES : RAW);
  }
  return `"${inside}"`;
}

function key(draw: Draw): string {
  return draw(3) === 0 ? text(draw) : `"${pick(draw, KEYS)}"`;
}

function value(draw: Draw, depth: number): string {
  const kind = draw(depth > 5 ? 12 : 20);
  if (kind < 5) return text(draw);
  if (kind < 9) return pick(draw, draw(60) === 0 ? BROKEN_NUMBERS : NUMBERS);
  if (kind < 12) return pick(draw, draw(60) === 0 ? BROKEN_WORDS : WORDS);
  const items = Array.from({ length: draw(5) }, () => {
    const own = pick(draw, BLANKS) + value(draw, depth + 1) + pick(draw, BLANKS);
    return kind < 16 ? own : `${pick(draw, BLANKS)}${key(draw)}${pick(draw, BLANKS)}:${own}`;
  });
  const inside = items.join(',') || pick(draw, BLANKS);
  return kind < 16 ? `[${inside}]` : `{${inside}}`;
}

/** Bytes that are JSON, or nearly. */
export function documentFrom(draw: Draw): Buffer {
  const members = Array.from({ length: draw(6) }, () => `${key(draw)}:${value(draw, 1)}`);
  const whole = draw(8) === 0 ? value(draw, 0) : `{${members.join(',')}}`;
  let bytes: Buffer = Buffer.from(pick(draw, BLANKS) + whole + pick(draw, BLANKS));
  for (let left = [0, 0, 1, 1, 2][draw(5)] as number; left > 0; left--) bytes = damage(bytes, draw);
  return bytes;
}

function damage(bytes: Buffer, draw: Draw): Buffer {
  const at = draw(bytes.length + 1);
  const end = Math.min(bytes.length, at + draw(4));
  const other = draw(bytes.length + 1);
  const insert = [
    () => Buffer.from(pick(draw, DAMAGE)),
    () => Buffer.from([draw(256)]),
    () => Buffer.alloc(0),
    () => bytes.subarray(other, other + draw(12)),
  ][draw(4)] as () => Buffer;
  return Buffer.concat([bytes.subarray(0, at), insert(), bytes.subarray(draw(2) ? end : at)]);
}

/** Throws where two things differ; what a test compares millions of times has no time for a message. */
function same(one: unknown, other: unknown): void {
  if (!Object.is(one, other) && !isDeepStrictEqual(one, other)) deepStrictEqual(one, other);
}

/**
 * Throws where the scanner and `JSON.parse` do not see the same in these bytes.
 *
 * @returns whether they are JSON
 */
export function compare(bytes: Buffer, budget: number): boolean {
  const whole = scan(bytes, Infinity);
  const sliced = scan(bytes, budget);
  const parsed = parse(bytes);
  same(whole.fault, parsed.fault);
  same(sliced.fault, parsed.fault);
  if (parsed.fault) return false;
  const { value: expected } = parsed;
  if (startsSome(expected)) same(whole.maySee(MARK), true);
  same(sliced.maySee(MARK), whole.maySee(MARK));
  same(sliced.values, whole.values);
  same(sliced.numbers, whole.numbers);
  const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
  same(whole.isObject, isObject);
  if (!isObject) return true;
  same(sliced.members, whole.members);
  compareMembers(bytes, whole, expected as Record<string, unknown>);
  return true;
}

function compareMembers(
  bytes: Buffer,
  scanner: JsonScanner,
  expected: Record<string, unknown>,
): void {
  const document = new JsonDocument(bytes, scanner, undefined);
  const names = new Set(scanner.members.map((member) => member.key));
  same([...names].toSorted(), Object.keys(expected).toSorted());
  for (const name of names) same(document.get(name), expected[name]);
  same(document.get('none of them'), undefined);
  const places = scanner.members.map(({ size: _size, isNumbers: _is, ...place }) => place);
  same(membersAt(bytes, bytes.indexOf('{')), places);
}

function scan(bytes: Buffer, budget: number): JsonScanner {
  const scanner = new JsonScanner(bytes, { members: Infinity, marks: MARKS });
  while (!scanner.step(budget));
  return scanner;
}

function parse(bytes: Buffer): { fault?: 'encoding' | 'syntax' | undefined; value?: unknown } {
  if (!isUtf8(bytes)) return { fault: 'encoding' };
  try {
    return { fault: undefined, value: JSON.parse(bytes.toString()) };
  } catch {
    return { fault: 'syntax' };
  }
}

/** True when a text or a name in the value begins with the mark. */
function startsSome(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(MARK);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]) => name.startsWith(MARK) || startsSome(one));
}

/** Compares so many documents of a seed; the error tells the one that is seen differently. */
export function compareMany(seed: number, runs: number): { sound: number } {
  const draw = drawFrom(seed);
  let sound = 0;
  for (let run = 0; run < runs; run++) {
    const bytes = documentFrom(draw);
    const budget = 1 + draw(12);
    try {
      if (compare(bytes, budget)) sound++;
    } catch (cause) {
      const told = `seed ${seed}, document ${run}, budget ${budget}: ${bytes.toString('base64')}`;
      throw new Error(told, { cause });
    }
  }
  return { sound };
}
