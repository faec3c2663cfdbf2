import { skipBlank, skipString } from './json-scan.ts';

/** A JSON value as its text, for values that must not change by being parsed (`1.0`, integers beyond 2^53). */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Like JSON.parse, but the objects and arrays that are values of members named in `keep` come as
 * {@link RawJson}. Throws SyntaxError for what is not JSON.
 */
export function parseKeepingRaw(text: string, keep: readonly string[]): unknown {
  const tails = keep.map((name) => JSON.stringify(name));
  // A text that could spell the placeholder itself is parsed as it is.
  const isPlain = text.includes(MARK) || /\\udb80/i.test(text);
  if (isPlain || !tails.some((tail) => text.includes(tail))) return JSON.parse(text) as unknown;
  const { masked, raws } = maskMembers(text, new Set(tails));
  if (raws.length === 0) return JSON.parse(text) as unknown;
  return JSON.parse(masked, (_key, value: unknown) => unmask(value, raws)) as unknown;
}

/** Like JSON.stringify for JSON values, with every {@link RawJson} inside written as its text. */
export function stringifyWithRaw(value: unknown): string {
  const raws: string[] = [];
  const mark = markFor(value);
  const json = JSON.stringify(value, (_key, one: unknown) =>
    one instanceof RawJson ? `${mark}${raws.push(one.text) - 1}` : one,
  );
  if (raws.length === 0) return json;
  return json.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_all, index: string) => {
    return raws[Number(index)] as string;
  });
}

/** What no string of a request is likely to hold; a string that holds it all the same gets another. */
const MARK = '\u{F0000}raw:';

function markFor(value: unknown): string {
  let mark = MARK;
  const taken = (one: unknown): boolean => {
    if (typeof one === 'string') return one.includes(mark);
    if (typeof one !== 'object' || one === null || one instanceof RawJson) return false;
    return Object.values(one).some(taken);
  };
  while (taken(value)) mark += ':';
  return mark;
}

/** Objects and arrays of the named members replaced by a one-member object that JSON text cannot hold. */
function maskMembers(text: string, names: ReadonlySet<string>): { masked: string; raws: string[] } {
  const raws: string[] = [];
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
    const close = skipContainer(text, start);
    const raw = text.slice(start, close);
    JSON.parse(raw);
    masked += `${text.slice(copied, start)}{"${MARK}":${raws.push(raw) - 1}}`;
    copied = close;
    at = close;
  }
  return { masked: masked + text.slice(copied), raws };
}

function skipContainer(text: string, open: number): number {
  let depth = 0;
  let at = open;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    if (depth === 0) return at;
  }
  return at;
}

function unmask(value: unknown, raws: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const index = (value as Record<string, unknown>)[MARK];
  const raw = typeof index === 'number' ? raws[index] : undefined;
  return raw === undefined ? value : new RawJson(raw);
}
