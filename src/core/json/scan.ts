import { Buffer } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import type { JsonMember } from './json-member.ts';
import { parseJson } from './value.ts';
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from './scanner.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** Bit that sets `[` apart from `{` and `]` from `}`. */
const BRACKET_BIT = 32;

/**
 * The top-level members of one JSON object, given as latin1. Invalid JSON is not always noticed: the text must
 * have been parsed or scanned before. Throws `invalid_json` and `invalid_request`.
 */
export function findMembers(text: string): JsonMember[] {
  const members: JsonMember[] = [];
  let at = skipBlank(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) {
    throw new GatewayError('invalid_json', { message: 'request body is not a JSON object' });
  }
  do {
    const keyStart = skipBlank(text, at + 1);
    if (text.charCodeAt(keyStart) !== QUOTE) break;
    const keyEnd = skipString(text, keyStart);
    const colon = skipBlank(text, keyEnd);
    if (text.charCodeAt(colon) !== COLON) throw new GatewayError('invalid_json');
    const valueStart = skipBlank(text, colon + 1);
    const valueEnd = skipValue(text, valueStart);
    const key = decodeKey(text.slice(keyStart, keyEnd));
    if (members.push({ key, keyStart, keyEnd, valueStart, valueEnd }) > MAX_JSON_MEMBERS) {
      throw new GatewayError('invalid_request', { message: 'request body has too many members' });
    }
    at = skipBlank(text, valueEnd);
  } while (text.charCodeAt(at) === COMMA);
  return members;
}

function decodeKey(quoted: string): string {
  if (/^"[\w.$-]*"$/.test(quoted)) return quoted.slice(1, -1);
  const key: unknown = parseJson(Buffer.from(quoted, 'latin1').toString('utf8'));
  if (typeof key !== 'string') throw new GatewayError('invalid_json');
  return key;
}

/** The offset of the first character at or after `from` that is not JSON whitespace. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

function skipValue(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === QUOTE) return skipString(text, start);
  // The scanned object itself is one level.
  if ((code | BRACKET_BIT) === OPEN_BRACE) return skipNested(text, start, MAX_JSON_DEPTH - 1);
  let at = start;
  while (at < text.length && !endsScalar(text.charCodeAt(at))) at++;
  return at;
}

function endsScalar(code: number): boolean {
  return code <= 32 || code === COMMA || (code | BRACKET_BIT) === CLOSE_BRACE;
}

/**
 * The offset after the string whose opening quote is at `open`. Jumps from quote to quote and looks back for
 * backslashes, so long texts cost next to nothing.
 */
export function skipString(text: string, open: number): number {
  let at = open + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

/**
 * The offset after the object or array that begins at `start`; the text's end for one that does not end. Throws
 * `invalid_request` for one that is nested deeper than `maxDepth`, itself included.
 */
export function skipNested(text: string, start: number, maxDepth = Infinity): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    at++;
    const folded = code | BRACKET_BIT;
    if (folded === OPEN_BRACE) {
      if (++depth > maxDepth) {
        throw new GatewayError('invalid_request', { message: 'request body is nested too deeply' });
      }
    } else if (folded === CLOSE_BRACE && --depth === 0) return at;
  }
  return at;
}
