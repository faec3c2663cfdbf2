import type { Op } from '../../store/store.ts';
import type { Stored } from './stored.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { ownedKey, uniqueKey, versionKey } from './storage-keys.ts';

/**
 * Writes in addition to the row of a resource: unique values, the list of its organization, the version that it
 * was. `before` is absent at creation, `next` at removal.
 */
export function indexOps(
  definition: ResourceDefinition,
  { before, next }: { before?: Stored; next?: Stored },
): Op[] {
  const stored = next ?? before;
  if (!stored) return [];
  const { kind, id, organization } = stored;
  const ops = (definition.unique ?? ['name']).flatMap((field) =>
    uniqueOps(stored, field, { from: valueOf(before, field), to: valueOf(next, field) }),
  );
  if (organization !== null && !before) {
    ops.push({ type: 'put', key: ownedKey(kind, organization, id), value: null });
  }
  if (organization !== null && !next) {
    ops.push({ type: 'delete', key: ownedKey(kind, organization, id) });
  }
  if (definition.versioned && next && next.version !== before?.version) {
    ops.push({ type: 'put', key: versionKey(kind, id, next.version), value: next });
  }
  return [...ops, ...(definition.index?.(before, next) ?? [])];
}

/** The unique values that an update changes. */
export function changedUnique(
  definition: ResourceDefinition,
  before: Stored,
  next: Stored,
): string[] {
  const fields = definition.unique ?? ['name'];
  return fields.filter((field) => valueOf(before, field) !== valueOf(next, field));
}

function uniqueOps(
  stored: Stored,
  field: string,
  { from, to }: { from: string | undefined; to: string | undefined },
): Op[] {
  if (from === to) return [];
  const ops: Op[] = [];
  if (from !== undefined) ops.push({ type: 'delete', key: uniqueKey(stored, field, from) });
  if (to !== undefined) {
    ops.push({
      type: 'put',
      key: uniqueKey(stored, field, to),
      value: stored.id,
      ifAbsent: true,
    });
  }
  return ops;
}

function valueOf(stored: Stored | undefined, field: string): string | undefined {
  const value = stored?.spec[field];
  return typeof value === 'string' ? value : undefined;
}
