import { eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Members } from '../json-fields.ts';

/** Members of a request that its protocol's codec reads; all others are lost by name. */
export interface ReadShape {
  /** Shape of each element of an array. */
  readonly element?: ReadShape;
  /** Shape of each member of an object, by name. */
  readonly members?: ReadonlyMap<string, ReadShape>;
  /** Shapes of objects by their kind; others are carried or lost as a whole. */
  readonly kinds?: ReadonlyMap<unknown, ReadShape>;
  /** Member that tells the kinds apart. */
  readonly by?: string;
}

/** Scalar, or a value that is read or lost as a whole. */
export const WHOLE: ReadShape = {};

/** `whole` names members that are read as they are, separated by blanks. */
export function object(
  whole: string,
  members: Readonly<Record<string, ReadShape>> = {},
): ReadShape {
  const names = whole.split(' ').filter((name) => name !== '');
  const all = names.map((name): [string, ReadShape] => [name, WHOLE]);
  return { members: new Map([...all, ...Object.entries(members)]) };
}

export function list(element: ReadShape): ReadShape {
  return { element };
}

/** Objects told apart by the member `by`; `untyped` are those that leave it out. */
export function kinds(
  by: string,
  shapes: Readonly<Record<string, ReadShape>>,
  untyped: ReadShape = WHOLE,
): ReadShape {
  const all: [unknown, ReadShape][] = Object.entries(shapes);
  return { by, kinds: new Map([...all, [undefined, untyped]]) };
}

interface Walk {
  readonly unread: string[];
  readonly spell: (name: string) => string;
}

/**
 * Paths of the members that are not read; null is none.
 *
 * @param spell gives the name in the shape for a client's spelling of it. Default: the same
 */
export function* unreadMembers(
  value: Members,
  shape: ReadShape,
  spell: (name: string) => string = (name) => name,
): Steps<string[]> {
  const walk: Walk = { unread: [], spell };
  const { members = NO_MEMBERS } = shape;
  for (const [name, member] of Object.entries(value)) {
    const element = members.get(spell(name))?.element;
    if (!element || !Array.isArray(member)) {
      visitMember({ name, value: member }, { members, path: '' }, walk);
      continue;
    }
    yield* eachInSteps(member, (one, index) => {
      visit(one, { shape: element, path: `${name}[${index}]` }, walk);
    });
  }
  return walk.unread;
}

const NO_MEMBERS: ReadonlyMap<string, ReadShape> = new Map();

function visit(
  value: unknown,
  { shape, path }: { shape: ReadShape; path: string },
  walk: Walk,
): void {
  const { element, members, by } = shape;
  if (Array.isArray(value)) {
    if (!element) return;
    for (const [index, one] of value.entries())
      visit(one, { shape: element, path: `${path}[${index}]` }, walk);
  } else if (isJsonObject(value)) {
    if (members) {
      for (const [name, member] of Object.entries(value))
        visitMember({ name, value: member }, { members, path }, walk);
    } else if (by !== undefined) {
      const kind = shape.kinds?.get(value[by] ?? undefined);
      if (kind) visit(value, { shape: kind, path }, walk);
      // One object may replace a list of it.
    } else if (element) visit(value, { shape: element, path: `${path}[0]` }, walk);
  }
}

function visitMember(
  { name, value }: { name: string; value: unknown },
  { members, path }: { members: ReadonlyMap<string, ReadShape>; path: string },
  walk: Walk,
): void {
  if (value === null || value === undefined) return;
  const own = path === '' ? name : `${path}.${name}`;
  const shape = members.get(walk.spell(name));
  if (shape) visit(value, { shape, path: own }, walk);
  else walk.unread.push(own);
}
