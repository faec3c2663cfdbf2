import { Buffer } from 'node:buffer';
import { skipBlank, skipNested, skipString } from './scan.ts';

/** Offsets of a value in a document, and its name where it is a member; ends are exclusive. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
  /** Range from quote to quote; undefined for an element of an array. */
  readonly key: { readonly start: number; readonly end: number } | undefined;
}

const OPEN_BRACE = 123;
const OPEN_BRACKET = 91;
const COMMA = 44;
const QUOTE = 34;

/**
 * The offsets of the value at `path`, as `JSON.parse` understands the document: of a name that is given more
 * than once the last counts.
 *
 * @param text a document that was parsed before, in latin1, so that offsets are those of its bytes
 */
export function locateJson(
  text: string,
  path: readonly (string | number)[],
): JsonPlace | undefined {
  const start = skipBlank(text, 0);
  let place: JsonPlace | undefined = { start, end: skipValue(text, start), key: undefined };
  for (const step of path) {
    place = typeof step === 'number' ? element(text, place, step) : member(text, place, step);
    if (!place) return undefined;
  }
  return place;
}

function member(text: string, { start }: JsonPlace, name: string): JsonPlace | undefined {
  if (text.charCodeAt(start) !== OPEN_BRACE) return undefined;
  let found: JsonPlace | undefined;
  let at = start;
  do {
    const keyStart = skipBlank(text, at + 1);
    if (text.charCodeAt(keyStart) !== QUOTE) break;
    const keyEnd = skipString(text, keyStart);
    const valueStart = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const end = skipValue(text, valueStart);
    if (isName(text.slice(keyStart, keyEnd), name))
      found = { start: valueStart, end, key: { start: keyStart, end: keyEnd } };
    at = skipBlank(text, end);
  } while (text.charCodeAt(at) === COMMA);
  return found;
}

function element(text: string, { start }: JsonPlace, index: number): JsonPlace | undefined {
  if (text.charCodeAt(start) !== OPEN_BRACKET) return undefined;
  let at = skipBlank(text, start + 1);
  for (let passed = 0; passed < index; passed++) {
    at = skipBlank(text, skipValue(text, at));
    if (text.charCodeAt(at) !== COMMA) return undefined;
    at = skipBlank(text, at + 1);
  }
  return { start: at, end: skipValue(text, at), key: undefined };
}

function isName(quoted: string, name: string): boolean {
  if (/^"[\w.$-]*"$/.test(quoted)) return quoted.slice(1, -1) === name;
  return JSON.parse(Buffer.from(quoted, 'latin1').toString('utf8')) === name;
}

function skipValue(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === QUOTE) return skipString(text, start);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return skipNested(text, start);
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text[at] as string)) at++;
  return at;
}
