import { skipBlank, skipString } from './scan.ts';

/** Mark that hardly any text holds. */
const MARK = '\u{F0000}raw:';
/** Most marks that are tried in place of those that the text holds itself. */
const MAX_MARKS = 64;

/**
 * A name that no member of the text has; undefined for a text that has all that are tried. An object with
 * this one member can replace a value that `JSON.parse` would change.
 */
export function freeMark(text: string): string | undefined {
  if (!text.includes(MARK) && !/\\udb80/i.test(text)) return MARK;
  const taken = new Set<string>();
  for (let at = text.indexOf('"'); at >= 0;) {
    const end = skipString(text, at);
    const isName = text[skipBlank(text, end)] === ':';
    if (isName) taken.add(JSON.parse(text.slice(at, end)) as string);
    at = text.indexOf('"', end);
  }
  for (let count = 0; count < MAX_MARKS; count++) {
    const mark = MARK + ':'.repeat(count);
    if (!taken.has(mark)) return mark;
  }
  return undefined;
}

type Holder = Record<string | number, unknown>;

/** Calls `put` for every object with the mark; several times as fast as a reviver of `JSON.parse`. */
export function unmask(
  value: unknown,
  mark: string,
  put: (holder: Holder, key: string | number, index: number) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Holder;
  const look = (key: string | number): void => {
    const member = holder[key];
    if (typeof member !== 'object' || member === null) return;
    const index = (member as Readonly<Record<string, unknown>>)[mark];
    if (index === undefined) unmask(member, mark, put);
    // Also a member of the name `__proto__` is the object's own, and is replaced as any other.
    else put(holder, key, index as number);
  };
  if (Array.isArray(value)) for (let index = 0; index < value.length; index++) look(index);
  else for (const key in holder) look(key);
}
