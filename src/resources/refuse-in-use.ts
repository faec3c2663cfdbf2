import { GatewayError } from '../core/errors.ts';
import { isArchived } from './define-resource.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';
import type { ListQuery } from './resource-rows.ts';

/** Users of a resource that a message names. */
const MAX_NAMED = 10;

interface Resources {
  definitions: readonly ResourceDefinition[];
  list(definition: ResourceDefinition, query: ListQuery): Promise<Stored[]>;
}

/**
 * Makes sure that no resource refers to one by any of the names it is `named` by.
 *
 * @throws GatewayError `conflict`, with the first users
 */
export async function refuseInUse(
  resources: Resources,
  stored: Stored,
  { named, what }: { named: readonly string[]; what: string },
): Promise<void> {
  const { kind, spec, organization } = stored;
  const users: Stored[] = [];
  for (const definition of resources.definitions) {
    // Who refers to an organization's resource belongs to the same organization.
    const all = {
      organization,
      limit: Infinity,
      matches: (other: Stored) => !isArchived(other),
    };
    for (const other of await resources.list(definition, all)) {
      const refs = definition.refs(other.spec);
      if (refs.some((ref) => ref.kind === kind && named.includes(ref.target))) users.push(other);
    }
  }
  if (users.length === 0) return;
  const shown = users.slice(0, MAX_NAMED).map((user) => `${user.kind} ${user.spec.name}`);
  if (users.length > MAX_NAMED) shown.push(`${users.length - MAX_NAMED} more`);
  const message = `${kind} \`${spec.name}\` cannot be ${what}: it is used by ${shown.join(', ')}`;
  throw new GatewayError('conflict', { message, type: 'in_use', retry: false });
}
