import type { GatewayError } from '../../core/errors.ts';
import type { AuditNote, Origin } from '../../audit/audit-entry.ts';
import type { Op } from '../../store/store.ts';
import { toAuditNote } from '../changes/audit-note.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { indexOps } from './index-ops.ts';
import { inUse, usersOf } from './refuse-in-use.ts';
import type { Resources } from './refuse-in-use.ts';
import type { ResourceRows, Row } from './resource-rows.ts';
import { resourceKey } from './storage-keys.ts';
import type { Spec, Stored } from './stored.ts';

/** Referrers of one commit, which has room for a few operations of each. */
const MAX_REFERRERS = 250;

interface Renaming {
  readonly before: Stored;
  readonly next: Stored;
  readonly by: Origin | undefined;
}

/** Writes of the commit that renames a resource, and their audit notes. */
interface Renamed {
  readonly ops: readonly Op[];
  readonly notes: readonly AuditNote[];
}

/**
 * Gives what refers to a resource by its name the new one. Nothing may come to refer to it until the
 * commit.
 *
 * @throws GatewayError `conflict` for more referrers than fit into one commit
 */
export async function renameReferrers(
  resources: Resources,
  rows: ResourceRows,
  { before, next, by }: Renaming,
): Promise<Renamed> {
  const users = await usersOf(resources, before, [before.spec.name]);
  if (users.length > MAX_REFERRERS) throw tooMany(before, users);
  const ops: Op[] = [];
  const notes: AuditNote[] = [];
  for (const { kind, id, organization } of users) {
    const definition = resources.definitionOf(kind);
    const row = await rows.mustLoad({ definition, idOrName: id, organization });
    const changed = follow(definition, row, { before, next });
    const key = resourceKey(kind, id);
    ops.push(
      { type: 'put', key, value: changed, ifVersion: row.version },
      ...indexOps(definition, { before: row.stored, next: changed }),
    );
    notes.push(
      toAuditNote(definition, { before: row.stored, next: changed, action: 'update', by }),
    );
  }
  return { ops, notes };
}

function follow(
  { refs }: ResourceDefinition,
  { stored }: Row,
  { before, next }: Pick<Renaming, 'before' | 'next'>,
): Stored {
  const spec = structuredClone(stored.spec);
  for (const { kind, target, path } of refs(stored.spec))
    if (kind === before.kind && target === before.spec.name) put(spec, path, next.spec.name);
  return { ...stored, spec, version: stored.version + 1, updatedAt: next.updatedAt };
}

/** Sets the value at `routes[0].provider`. */
function put(spec: Spec, path: string, name: string): void {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  const last = steps.pop() ?? '';
  let parent: Record<string, unknown> = spec;
  for (const step of steps) parent = parent[step] as Record<string, unknown>;
  parent[last] = name;
}

function tooMany(stored: Stored, users: readonly Stored[]): GatewayError {
  const hint = `a rename changes at most ${MAX_REFERRERS} others; make a new one and move them to it`;
  return inUse(stored, users, { what: 'renamed', hint });
}
