import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from './errors.ts';
import { parseJsonObject } from './json-value.ts';

/** Deepest nesting of arrays and objects in a document, the outermost one included. */
export const MAX_JSON_DEPTH = 512;
/** Most members of one scanned object. */
export const MAX_JSON_MEMBERS = 4096;

/** Where one member of an object stands in its bytes; ends are exclusive, `keyStart` is the quote. */
export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface JsonObject {
  readonly value: Readonly<Record<string, unknown>>;
  /** In the order of the document; a repeated unguarded key appears as often as it is written. */
  readonly members: readonly JsonMember[];
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** What sets `[` apart from `{` and `]` from `}`. */
const BRACKET_BIT = 32;

/**
 * Parses one JSON object and finds its top-level members. `guarded` names the members that the
 * gateway itself acts on: written twice, in another case or with escapes they are refused, because
 * the next parser might see another value than this one. A byte order mark is refused: it would be
 * forwarded to providers that do not accept it.
 *
 * Throws `invalid_json` (not UTF-8, not JSON, not an object) and `invalid_request` (ambiguous guarded
 * member, nested deeper than {@link MAX_JSON_DEPTH}, more than {@link MAX_JSON_MEMBERS} members).
 */
export function scanJson(body: Buffer, guarded: readonly string[] = []): JsonObject {
  // In latin1 every byte is one character, so offsets in the text are offsets in the body.
  const text = body.toString('latin1');
  // The walk comes first: it bounds the depth before the parser allocates for it. What it makes of
  // broken JSON does not matter, the parser refuses that.
  const members = findMembers(text);
  const value = parse(isAscii(body) ? text : decode(body));
  if (guarded.length > 0) refuseAmbiguous(members, { text, guarded });
  return { value, members };
}

function decode(body: Buffer): string {
  if (!isUtf8(body))
    throw new GatewayError('invalid_json', { message: 'request body is not valid UTF-8' });
  return body.toString('utf8');
}

function parse(text: string): Record<string, unknown> {
  const value = parseJsonObject(text);
  if (value === undefined) throw new GatewayError('invalid_json');
  return value;
}

/**
 * The top-level members of one JSON object, given as latin1. What is no JSON is not always noticed: it
 * is for who has parsed the text or is about to. Throws as {@link scanJson}.
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
  const key: unknown = safeParse(Buffer.from(quoted, 'latin1').toString('utf8'));
  if (typeof key !== 'string') throw new GatewayError('invalid_json');
  return key;
}

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuseAmbiguous(
  members: readonly JsonMember[],
  { text, guarded }: { text: string; guarded: readonly string[] },
): void {
  const seen = new Set<string>();
  for (const { key, keyStart, keyEnd } of members) {
    const name = guarded.includes(key) ? key : fold(key);
    if (!guarded.includes(name)) continue;
    const plain = name === key && keyEnd - keyStart === key.length + 2;
    if (!plain || seen.has(name)) throw ambiguous(name, text.slice(keyStart, keyEnd));
    seen.add(name);
  }
}

/** Some JSON libraries match member names without regard to case and compatibility forms. */
function fold(key: string): string {
  return /^[a-z0-9_]*$/.test(key) ? key : key.normalize('NFKC').toLowerCase();
}

function ambiguous(name: string, spelled: string): GatewayError {
  const why = spelled === `"${name}"` ? 'given more than once' : 'spelled in an ambiguous way';
  return new GatewayError('invalid_request', { message: `\`${name}\` is ${why}`, param: name });
}

/** The offset of the first character at or behind `from` that is not JSON whitespace. */
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
 * The offset behind the string whose opening quote is at `open`. Jumps from quote to quote and
 * looks back for backslashes, so long texts cost next to nothing.
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
 * The offset behind the object or array that begins at `start`; the text's end for one that does not
 * end. Throws `invalid_request` for one that is nested deeper than `maxDepth`, itself included.
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
