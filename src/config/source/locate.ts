import type { Place } from './diagnostic.ts';

export type Path = readonly PropertyKey[];

interface Member {
  readonly key: Place;
  readonly value: Place;
}

/**
 * Remembers where every value was written. Positions hang on the identity of the containers, so
 * they survive merging files and replacing scalars in place.
 */
export interface Places {
  /** Marks the position of an object or list itself. */
  markContainer(container: object, place: Place): void;
  /** Marks the position where a member was written, and that it is text of the file. */
  markMember(container: object, key: string | number, member: Member): void;
  /** Says that a text came, in part or whole, from outside of the file. */
  markInterpolated(container: object, key: string | number): void;
  isInterpolated(root: unknown, path: Path): boolean;
  /**
   * The position of the value at `path` below `root`, or of its key. Walks as far as it can and
   * answers for the nearest known ancestor.
   */
  find(root: unknown, path: Path, part?: 'key' | 'value'): Place;
}

export function createPlaces(): Places {
  const containers = new WeakMap<object, Place>();
  const members = new WeakMap<object, Map<string, Member>>();
  const interpolated = new WeakMap<object, Set<string>>();
  return {
    markContainer: (container, place) => void containers.set(container, place),
    markMember(container, key, member) {
      const known = members.get(container) ?? new Map<string, Member>();
      members.set(container, known.set(String(key), member));
      interpolated.get(container)?.delete(String(key));
    },
    markInterpolated(container, key) {
      const known = interpolated.get(container) ?? new Set<string>();
      interpolated.set(container, known.add(String(key)));
    },
    isInterpolated(root, path) {
      const container = valueAt(root, path.slice(0, -1));
      if (typeof container !== 'object' || container === null) return false;
      return interpolated.get(container)?.has(String(path.at(-1))) ?? false;
    },
    find(root, path, part = 'value') {
      let current: unknown = root;
      let place: Place = { file: '', line: 1, column: 1 };
      for (let depth = 0; ; depth++) {
        if (typeof current !== 'object' || current === null) return place;
        if (depth === 0) place = containers.get(current) ?? place;
        const step = path[depth];
        if (step === undefined) return place;
        const member = members.get(current)?.get(String(step));
        if (member === undefined) return containers.get(current) ?? place;
        place = part === 'key' && depth === path.length - 1 ? member.key : member.value;
        current = (current as Record<PropertyKey, unknown>)[step];
      }
    },
  };
}

/** Value at a path below `root`, or undefined. */
export function valueAt(root: unknown, path: Path): unknown {
  let current = root;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) {
      return undefined;
    }
    current = (current as Record<PropertyKey, unknown>)[step];
  }
  return current;
}

/** `models[0].labels["team/owner"]`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(step)))
      text += (text === '' ? '' : '.') + String(step);
    else text += `[${JSON.stringify(String(step))}]`;
  }
  return text;
}
