import { formatPath } from '../../config/source/locate.ts';
import { readMemberPath } from '../../config/objects/member-path.ts';
import { usageError } from '../cli-error.ts';
import type { MemberPath } from './member-schema.ts';

type Container = Record<string | number, unknown>;

/** Reads `routes[0].weight`; throws CliError `usage` (exit 64) for text that is no path. */
export function toMemberPath(text: string, flag: string): (string | number)[] {
  const path = readMemberPath(text);
  if (path !== undefined && !path.includes('__proto__')) return path;
  throw usageError(`${flag}: "${text}" is no path such as routes[0].weight`);
}

/** Puts a value at a path, in place, and makes the objects and lists on the way. */
export function setMember(
  root: Container,
  path: MemberPath,
  { value, flag }: { value: unknown; flag: string },
): void {
  let current: Container = root;
  for (const [depth, step] of path.slice(0, -1).entries()) {
    refuseGap(current, step, flag);
    const isList = typeof path[depth + 1] === 'number';
    const next = (Object.hasOwn(current, step) ? current[step] : undefined) ?? (isList ? [] : {});
    if (typeof next !== 'object' || Array.isArray(next) !== isList) {
      const what = isList ? 'list' : 'object';
      throw usageError(`${flag}: ${formatPath(path.slice(0, depth + 1))} is no ${what}`);
    }
    current[step] = next;
    current = next as Container;
  }
  const last = path.at(-1) ?? '';
  refuseGap(current, last, flag);
  current[last] = value;
}

/** Removes the member at a path, in place; a missing one is no fault. */
export function removeMember(root: Container, path: MemberPath): void {
  let current: unknown = root;
  for (const step of path.slice(0, -1)) current = memberOf(current, step);
  const last = path.at(-1) ?? '';
  if (Array.isArray(current)) current.splice(Number(last), 1);
  else if (typeof current === 'object' && current !== null) delete (current as Container)[last];
}

export function memberOf(container: unknown, step: string | number): unknown {
  if (typeof container !== 'object' || container === null) return undefined;
  return Object.hasOwn(container, step) ? (container as Container)[step] : undefined;
}

function refuseGap(container: Container, step: string | number, flag: string): void {
  if (!Array.isArray(container) || typeof step !== 'number' || step <= container.length) return;
  throw usageError(`${flag}: the list has ${container.length} items`);
}
