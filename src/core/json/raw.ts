import { digitsOf, holdsDigits } from './digits.ts';
import { freeMark, unmask } from './masks.ts';
import { skipBlank, skipNested, skipString } from './scan.ts';

/** A JSON value as its text, for values that must not change by being parsed (`1.0`, integers beyond 2^53). */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Parses like JSON.parse, but the objects and arrays that are values of members named in `keep` come as
 * {@link RawJson}. Throws SyntaxError unless the text is JSON.
 */
export function parseKeepingRaw(text: string, keep: readonly string[]): unknown {
  const tails = keep.map((name) => JSON.stringify(name));
  const mark = tails.some((tail) => text.includes(tail)) ? freeMark(text) : undefined;
  if (mark === undefined) return JSON.parse(text) as unknown;
  const { masked, raws } = maskMembers(text, { names: new Set(tails), mark });
  if (raws.length === 0) return JSON.parse(text) as unknown;
  const value: unknown = JSON.parse(masked);
  unmask(value, mark, (holder, key, index) => void (holder[key] = raws[index]));
  return value;
}

/**
 * Writes JSON values like JSON.stringify, with every {@link RawJson} inside written as its text, and every number
 * that `parseKeepingDigits` read as it was written.
 *
 * @param space of one level; default: all in one line
 */
export function stringifyWithRaw(value: unknown, space = ''): string {
  const holders = new Set<object>();
  return findHolders(value, holders)
    ? write(value, { holders, space })
    : JSON.stringify(value, null, space);
}

/** Finds the arrays and objects with a text to keep somewhere inside; most values have none. */
function findHolders(value: unknown, holders: Set<object>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof RawJson) return true;
  let isHolder = false;
  let hasNumber = false;
  if (Array.isArray(value)) {
    for (const one of value) {
      if (typeof one === 'number') hasNumber = true;
      else if (findHolders(one, holders)) isHolder = true;
    }
  } else {
    const object = value as Record<string, unknown>;
    for (const key in object) {
      const one = object[key];
      if (typeof one === 'number') hasNumber = true;
      else if (findHolders(one, holders)) isHolder = true;
    }
  }
  if (hasNumber && holdsDigits(value)) isHolder = true;
  if (isHolder) holders.add(value);
  return isHolder;
}

interface Writing {
  readonly holders: ReadonlySet<object>;
  readonly space: string;
}

/**
 * Writes a value. One without a text to keep is left to the native writer, which is many times as fast.
 */
function write(value: unknown, writing: Writing): string {
  const { holders, space } = writing;
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null || !holders.has(value))
    return JSON.stringify(value, null, space) ?? 'null';
  const writeMember = (one: unknown, key: string | number): string =>
    digitsOf(value, key) ?? write(one, writing);
  if (Array.isArray(value)) return frame('[]', value.map(writeMember), space);
  const colon = space === '' ? ':' : ': ';
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${JSON.stringify(name)}${colon}${writeMember(one, name)}`);
  return frame('{}', members, space);
}

function frame(brackets: '[]' | '{}', items: readonly string[], space: string): string {
  const [open, close] = brackets;
  if (space === '' || items.length === 0) return `${open}${items.join(',')}${close}`;
  const inner = items.join(',\n').replaceAll('\n', `\n${space}`);
  return `${open}\n${space}${inner}\n${close}`;
}

/** Objects and arrays of the named members replaced by an object whose one member is the mark. */
function maskMembers(
  text: string,
  { names, mark }: { names: ReadonlySet<string>; mark: string },
): { masked: string; raws: RawJson[] } {
  const raws: RawJson[] = [];
  let masked = '';
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '"') {
      at++;
      continue;
    }
    const end = skipString(text, at);
    const colon = skipBlank(text, end);
    const isMember = text[colon] === ':' && names.has(text.slice(at, end));
    at = end;
    if (!isMember) continue;
    const start = skipBlank(text, colon + 1);
    if (text[start] !== '{' && text[start] !== '[') continue;
    const close = skipNested(text, start);
    const raw = text.slice(start, close);
    JSON.parse(raw);
    masked += `${text.slice(copied, start)}{"${mark}":${raws.push(new RawJson(raw)) - 1}}`;
    copied = close;
    at = close;
  }
  return { masked: masked + text.slice(copied), raws };
}
