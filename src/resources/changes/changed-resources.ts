import type { Stored } from '../store/stored.ts';
import type { ResourceAccess } from '../store/define-resource.ts';
import type { Changes } from './change-log.ts';

/** Resources of one kind by id, as they are now; undefined for one that is gone. */
export type ChangedResources = ReadonlyMap<string, Stored | undefined>;

const EVERYTHING = { organization: null, limit: Infinity, matches: () => true };

/** Reads the resources of a kind that changed, and no others unless everything did. */
export async function readChanged(
  repository: ResourceAccess,
  kind: string,
  changes: Changes,
): Promise<ChangedResources> {
  const definition = repository.definitionOf(kind);
  if (changes === 'everything') {
    const all = await repository.list(definition, EVERYTHING);
    return new Map(all.map((stored) => [stored.id, stored]));
  }
  const ids = changes.filter((row) => row.kind === kind).map(({ id }) => id);
  return repository.byIds(definition, ids);
}
