import type { ResourceView } from '../../client/admin.ts';
import { labelsOf, NAMESPACE_LABEL, OWNER_LABEL } from '../../config/actual/ownership.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError } from '../cli-error.ts';

/** Throws `owned` (exit 5) for an object that files manage, unless the change is forced. */
export function refuseOwned(view: ResourceView, { called, force }: OwnedChange): void {
  const labels = labelsOf(view);
  const namespace = labels[NAMESPACE_LABEL];
  const file = labels[OWNER_LABEL];
  if (force || (namespace === undefined && file === undefined)) return;
  const owner = namespace === undefined ? `the file ${file}` : `the namespace ${namespace}`;
  throw new CliError({
    code: 'owned',
    message: `${called} belongs to ${oneLine(owner)}`,
    hint: 'change it there and apply, or add --force; the next apply may change it back',
    exit: 'conflict',
  });
}

export interface OwnedChange {
  /** Kind and name, `key ci`. */
  called: string;
  force: boolean;
}
