import { GatewayError } from '../../core/errors.ts';
import type { Referrers } from '../changes/referrers.ts';
import { isArchived } from './stored.ts';
import type { ListQuery, Stored } from './stored.ts';
import type { ResourceDefinition } from './define-resource.ts';

/** Users of a resource that a message names. */
const MAX_NAMED = 10;

export interface Resources {
  definitions: readonly ResourceDefinition[];
  definitionOf(kind: string): ResourceDefinition;
  /** Referrers of the platform. */
  referrers: Referrers;
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
  named: readonly string[],
): Promise<void> {
  const users = await usersOf(resources, stored, named);
  if (users.length > 0) throw inUse(stored, users, { what: 'deleted' });
}

/** Refusal of a change that users of a resource prevent, with the first of them. */
export function inUse(
  { kind, spec }: Stored,
  users: readonly Stored[],
  { what, hint }: { what: string; hint?: string },
): GatewayError {
  const shown = users.slice(0, MAX_NAMED).map((user) => `${user.kind} ${user.spec.name}`);
  if (users.length > MAX_NAMED) shown.push(`${users.length - MAX_NAMED} more`);
  const reason = `${kind} \`${spec.name}\` cannot be ${what}: it is used by ${shown.join(', ')}`;
  const message = hint === undefined ? reason : `${reason}; ${hint}`;
  return new GatewayError('conflict', { message, type: 'in_use', retry: false });
}

/** Resources that refer to one by any of the names it is `named` by. */
export async function usersOf(
  resources: Resources,
  { kind, organization }: Stored,
  named: readonly string[],
): Promise<Stored[]> {
  // An organization's resource refers to nothing else of the platform than its owner.
  if (organization === null && kind !== 'organization') return resources.referrers.of(kind, named);
  // A resource that refers to an organization's resource belongs to the same organization.
  const query = {
    organization,
    limit: Infinity,
    matches: (other: Stored) => !isArchived(other),
  };
  const users: Stored[] = [];
  for (const definition of resources.definitions) {
    for (const other of await resources.list(definition, query)) {
      const refs = definition.refs(other.spec);
      if (refs.some((ref) => ref.kind === kind && named.includes(ref.target))) users.push(other);
    }
  }
  return users;
}
