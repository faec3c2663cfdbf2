import { freeMark, unmask } from './masks.ts';
import { skipString } from './scan.ts';
import { isJsonObject } from './value.ts';

/**
 * Member of an object or array with the text of its numbers, by name or index, that a number of JavaScript would
 * not give back: `1.0`, `1e2`, `-0`, integers beyond 2^53. Copies of the object (`{...object}`) have it, too;
 * `JSON.stringify`, `Object.entries` and schemas pass over it.
 */
const DIGITS: unique symbol = Symbol('digits');

interface Holder {
  readonly [DIGITS]?: ReadonlyMap<string, string>;
  readonly [member: string]: unknown;
}

/** Matches in any text with a number that would be written otherwise; in some texts without one, too. */
const MAY_DIFFER = /\d[\d.]{15}|\d[eE][+-]?\d|\.\d*0(?!\d)|-0(?![\d.])|0\.0{6}/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const QUOTE = 34;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;

/**
 * Parses like JSON.parse; in addition, `stringifyWithRaw` writes the numbers of its objects and arrays with the
 * digits that they have here, as long as their values stay the same. Throws SyntaxError unless the text is JSON.
 */
export function parseKeepingDigits(text: string): unknown {
  const mark = MAY_DIFFER.test(text) ? freeMark(text) : undefined;
  if (mark === undefined) return JSON.parse(text) as unknown;
  const { masked, numbers } = maskNumbers(text, mark);
  if (numbers.length === 0) return JSON.parse(text) as unknown;
  const root: unknown[] = [JSON.parse(masked)];
  unmask(root, mark, (holder, key, index) => {
    const digits = numbers[index] as string;
    holder[key] = Number(digits);
    const kept = holder as { [DIGITS]?: Map<string, string> };
    (kept[DIGITS] ??= new Map()).set(String(key), digits);
  });
  return root[0];
}

/** The same for an object; undefined for anything else, broken JSON included. */
export function parseObjectKeepingDigits(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseKeepingDigits(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True when {@link digitsOf} may find some. */
export function holdsDigits(holder: object): boolean {
  return (holder as Holder)[DIGITS] !== undefined;
}

/** The text of a number that was kept; undefined for any other member. */
export function digitsOf(holder: object, key: string | number): string | undefined {
  const digits = (holder as Holder)[DIGITS]?.get(String(key));
  const isSame = digits !== undefined && Object.is(Number(digits), (holder as Holder)[key]);
  return isSame ? digits : undefined;
}

/** Numbers that JavaScript writes otherwise replaced by an object whose one member is the mark. */
function maskNumbers(text: string, mark: string): { masked: string; numbers: string[] } {
  const numbers: string[] = [];
  let masked = '';
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? text.slice(at, at + 1);
      if (number !== '-' && JSON.stringify(Number(number)) !== number) {
        masked += `${text.slice(copied, at)}{"${mark}":${numbers.push(number) - 1}}`;
        copied = at + number.length;
      }
      at += number.length;
    } else at++;
  }
  return { masked: masked + text.slice(copied), numbers };
}
