import { namespacesById } from '../../config/actual/inventory.ts';
import { labelsOf, namespaceOf, type Owner, OWNER_LABEL } from '../../config/actual/ownership.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError } from '../cli-error.ts';

/**
 * Throws `owned` (exit 5) for an object that files manage, as inventories or labels know it, unless the
 * change is forced.
 */
export async function refuseOwnedBy(
  { inventories }: ResourceClient,
  view: Owned,
  change: Omit<OwnedChange, 'known'>,
): Promise<void> {
  const known = namespacesById((await inventories?.list()) ?? []);
  refuseOwned(view, { ...change, known });
}

function refuseOwned(view: Owned, { called, force, known }: OwnedChange): void {
  const namespace = namespaceOf(view, known);
  const file = labelsOf(view)[OWNER_LABEL];
  if (force || (namespace === undefined && file === undefined)) return;
  const owner = namespace === undefined ? `the file ${file}` : `the namespace ${namespace}`;
  throw new CliError({
    code: 'owned',
    message: `${called} belongs to ${oneLine(owner)}`,
    hint: 'change it there and apply, or add --force; the next apply may change it back',
    exit: 'conflict',
  });
}

interface OwnedChange {
  /** Kind and name, `key ci`. */
  called: string;
  force: boolean;
  /** Namespaces by the ids of objects, as inventories know them. */
  known: Owner['known'];
}

type Owned = Readonly<Record<string, unknown>>;
