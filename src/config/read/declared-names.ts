import { declaredOwner } from '../objects/desired.ts';
import { CONFIG_KINDS } from '../objects/kinds.ts';
import { isRecord } from '../objects/record.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Path, Places } from '../source/locate.ts';

export type Tree = Record<string, unknown>;
export type Problem = Pick<Diagnostic, 'message' | 'hint'>;
export type Report = (path: Path, problem: Problem, severity?: Diagnostic['severity']) => void;

/** Declared names of a kind, each with the organizations that have it; undefined where only the server knows. */
export type Names = ReadonlyMap<string, readonly string[]> | undefined;

/** Tree whose names are compared with each other. */
export interface Checked {
  readonly tree: Tree;
  readonly places: Places;
  readonly namesOf: (kind: unknown) => Names;
  readonly report: Report;
}

/** Lists the names of a collection, undefined when it is absent; owner '' is no organization. */
export function namesIn(tree: Tree, collection: string): Names {
  if (!Array.isArray(tree[collection])) return undefined;
  const isOwned = CONFIG_KINDS.some((one) => one.collection === collection && one.isOwned);
  const names = new Map<string, string[]>();
  for (const [, { name, organization }] of entriesOf(tree, collection)) {
    const key = String(name).trim();
    const owner = isOwned ? declaredOwner(organization) : '';
    names.set(key, [...(names.get(key) ?? []), owner]);
  }
  return names;
}

/** True when two words can mean one organization: only the server knows the name of an id. */
export function isPerhapsSame(one: string, other: string): boolean {
  return one === other || isOrganizationId(one) !== isOrganizationId(other);
}

export function isOrganizationId(organization: string): boolean {
  return organization.startsWith('org_');
}

export function entriesOf(
  container: Readonly<Record<string, unknown>>,
  member: string,
): [number, Readonly<Record<string, unknown>>][] {
  const list = container[member];
  if (!Array.isArray(list)) return [];
  return [...list.entries()].flatMap(([index, entry]) => (isRecord(entry) ? [[index, entry]] : []));
}
