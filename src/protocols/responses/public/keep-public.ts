import { skipBlank } from '../../../core/json/scan.ts';
import { readElements, readMembers } from './json-walk.ts';
import type { Shape } from './shape.ts';

/** JSON texts by the name of the slot that they fill. */
export type Slots = Readonly<Record<string, string>>;

interface Walk {
  readonly json: string;
  readonly slots: Slots;
  /** Edits in the order of the text, not overlapping. */
  readonly edits: { readonly start: number; readonly end: number; readonly text: string }[];
}

/** A member or an element; `start` is where its name begins, if it has one. */
interface Entry {
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

/**
 * Removes everything from a JSON text that its shape does not include, at any depth; the rest is
 * byte for byte the input, but for filled slots. Undefined when the value as a whole is not public.
 *
 * @param json valid JSON; a latin1 view of UTF-8 does
 */
export function keepPublic(json: string, shape: Shape, slots: Slots = {}): string | undefined {
  const walk: Walk = { json, slots, edits: [] };
  if (!keepValue(walk, skipBlank(json, 0), shape)) return undefined;
  let kept = '';
  let copied = 0;
  for (const { start, end, text } of walk.edits) {
    kept += json.slice(copied, start) + text;
    copied = end;
  }
  return copied === 0 ? json : kept + json.slice(copied);
}

/** False, and no edit noted, when the value is not public. */
function keepValue(walk: Walk, at: number, shape: Shape): boolean {
  if (shape.free) return true;
  const first = walk.json[at];
  if (first === '[') return keepElements(walk, at, shape);
  return first !== '{' || keepMembers(walk, at, shape);
}

function keepElements(walk: Walk, at: number, { element }: Shape): boolean {
  if (!element) return false;
  const elements = readElements(walk.json, at);
  keepEntries(walk, elements, () => element);
  return true;
}

function keepMembers(walk: Walk, at: number, shape: Shape): boolean {
  const { every } = shape;
  if (!every && !shape.members && !shape.kinds) return false;
  const members = readMembers(walk.json, at);
  const shapes = membersOf(shape, walk.json, members);
  if (!every && !shapes) return false;
  keepEntries(walk, members, ({ name }) => every ?? shapes?.get(name));
  return true;
}

/** Parsers take the last of several members with one name, so its `type` decides. */
function membersOf(
  { kinds, members }: Shape,
  json: string,
  entries: readonly (Entry & { name: string })[],
): ReadonlyMap<string, Shape> | undefined {
  const type = kinds && entries.findLast(({ name }) => name === 'type');
  if (!type || json[type.value] !== '"') return members;
  return kinds.get(JSON.parse(json.slice(type.value, type.end)) as string)?.members;
}

function keepEntries<T extends Entry>(
  walk: Walk,
  entries: readonly T[],
  shapeOf: (entry: T) => Shape | undefined,
): void {
  let kept = 0;
  let previousEnd = 0;
  entries.forEach((entry, index) => {
    const shape = shapeOf(entry);
    const text = shape?.slot === undefined ? undefined : walk.slots[shape.slot];
    if (text !== undefined) walk.edits.push({ start: entry.value, end: entry.end, text });
    if (text !== undefined || (shape && keepValue(walk, entry.value, shape))) kept++;
    // Removed with the comma before it; where no entry before it is kept, with the one after it.
    else if (kept > 0) walk.edits.push({ start: previousEnd, end: entry.end, text: '' });
    else
      walk.edits.push({
        start: entry.start,
        end: entries[index + 1]?.start ?? entry.end,
        text: '',
      });
    previousEnd = entry.end;
  });
}
