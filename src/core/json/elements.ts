import type { Buffer } from 'node:buffer';
import type { JsonMember } from './json-member.ts';
import { readName } from './read-places.ts';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** Sets `[` apart from `{` and `]` from `}`. */
const BRACKET_BIT = 32;
/** Bytes of a string that are looked at one by one before a native search pays. */
const NEAR = 24;

/** Extent of a value in its bytes; the end is exclusive. */
export type Extent = readonly [start: number, end: number];

/**
 * Finds the elements of an array one by one, so that a long one need not be parsed at once.
 *
 * @param body a document that was scanned before
 * @param start of the array's bracket
 */
export function* elementsOf(body: Buffer, start: number): Generator<Extent> {
  let at = skipBlank(body, start + 1);
  while (at < body.length && !isClose(body[at] as number)) {
    const end = skipValue(body, at);
    yield [at, end];
    const next = skipBlank(body, end);
    if (body[next] !== COMMA) return;
    at = skipBlank(body, next + 1);
  }
}

/**
 * Members of an object inside a document that was scanned before, in its order; none for another value.
 *
 * @param start of the object's brace
 */
export function membersAt(body: Buffer, start: number): JsonMember[] {
  const members: JsonMember[] = [];
  let at = start;
  if (body[at] !== OPEN_BRACE) return members;
  do {
    const keyStart = skipBlank(body, at + 1);
    if (body[keyStart] !== QUOTE) break;
    const keyEnd = skipString(body, keyStart);
    const valueStart = skipBlank(body, skipBlank(body, keyEnd) + 1);
    const valueEnd = skipValue(body, valueStart);
    const key = readName(body, keyStart, keyEnd);
    members.push({ key, keyStart, keyEnd, valueStart, valueEnd });
    at = skipBlank(body, valueEnd);
  } while (body[at] === COMMA);
  return members;
}

function skipBlank(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && (body[at] as number) <= 32) at++;
  return at;
}

function skipValue(body: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const byte = body[at] as number;
    if (byte === QUOTE) at = skipString(body, at);
    else {
      if (isOpen(byte)) depth++;
      else if (isClose(byte)) depth--;
      at++;
    }
  } while (at < body.length && (depth > 0 || isScalar(body, start, at)));
  return at;
}

/** A scalar continues until something ends it; a string or an array has ended by itself. */
function isScalar(body: Buffer, start: number, at: number): boolean {
  const first = body[start] as number;
  if (first === QUOTE || isOpen(first)) return false;
  const byte = body[at] as number;
  return byte > 32 && byte !== COMMA && !isClose(byte);
}

function skipString(body: Buffer, open: number): number {
  const near = Math.min(open + NEAR, body.length);
  let at = open + 1;
  while (at < near && body[at] !== QUOTE && body[at] !== BACKSLASH) at++;
  if (at < near && body[at] === QUOTE) return at + 1;
  for (let quote = body.indexOf(QUOTE, at); quote >= 0;) {
    let before = quote - 1;
    while (body[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    quote = body.indexOf(QUOTE, quote + 1);
  }
  return body.length;
}

const isOpen = (byte: number): boolean => (byte | BRACKET_BIT) === OPEN_BRACE;
const isClose = (byte: number): boolean => (byte | BRACKET_BIT) === CLOSE_BRACE;
