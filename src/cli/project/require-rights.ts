import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { kindOf, type KindName } from '../../config/objects/kinds.ts';
import { allows, ROLES } from '../../core/access.ts';
import { KINDS } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import { definitionOf } from '../../resources/registry.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import { CliError } from '../cli-error.ts';
import { type OwnKey, readOwnKey } from '../connection/own-key.ts';

export interface RightsOptions {
  /** Kinds of the objects that are about to be written. */
  readonly kinds: readonly KindName[];
  readonly signal: AbortSignal;
}

/**
 * Refuses a key whose role does not allow all that an apply writes, the inventory of the namespace among
 * it: some objects would be written, and the rest never.
 *
 * @throws CliError `insufficient_scope` (exit 4)
 */
export async function requireRights(
  client: Client,
  { kinds, signal }: RightsOptions,
): Promise<void> {
  const key = await readOwnKey(client, signal).catch(undefinedWhenUnknown);
  const role = ROLES.find((one) => one === key?.role);
  const isRefused = ({ uses }: ResourceDefinition): boolean =>
    !allows(role, uses?.change ?? 'write');
  const refused = [...new Set(kinds)].map(kindOf).filter((one) => isRefused(one.definition));
  const words = refused.map(({ collection }) => collection);
  if (isRefused(definitionOf('inventories')))
    words.push(`the ${KINDS.inventories.word} of the namespace`);
  if (words.length === 0) return;
  throw new CliError({
    code: 'insufficient_scope',
    message: oneLine(
      `the key ${key?.name} has the role ${role}, which may not change ${words.join(', ')}`,
    ),
    hint: 'nothing was written; use a key of the role admin, or one of the scope admin without a role',
    exit: 'auth',
  });
}

/** Gateways of an earlier release lack the route; they refuse forbidden writes themselves. */
function undefinedWhenUnknown(thrown: unknown): OwnKey | undefined {
  if (thrown instanceof ClientError && thrown.status === 404) return undefined;
  throw thrown;
}
