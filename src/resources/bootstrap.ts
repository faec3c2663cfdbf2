import { GatewayError } from '../core/errors.ts';
import { SCOPES } from '../core/access.ts';
import { newKeyValue } from './kinds/key.ts';
import type { Repository } from './store/repository.ts';

export interface FirstStart {
  organization: string;
  adminKey: string;
  /** Undefined where keys are declared. */
  clientKey: string | undefined;
}

const EVERYWHERE = { organization: null };
const NAME = 'default';

/**
 * Makes, on a store without any key, the organization `default`, an admin key and, unless keys are
 * declared, a client key, and gives the values of the keys this one time. Undefined when there are keys already or another
 * process makes them at the same time (requirement console-free-bootstrap).
 *
 * @param adminKey gives the value of the admin key, by default a new one; it must be stored by then, because a
 * start that dies in between would lock all users out
 */
export async function bootstrap(
  repository: Repository,
  adminKey: () => Promise<string> = async () => newKeyValue(),
  { declaresKeys = false }: { declaresKeys?: boolean } = {},
): Promise<FirstStart | undefined> {
  const keys = repository.definitionOf('api_key');
  const [any] = await repository.list(keys, { ...EVERYWHERE, limit: 1, matches: () => true });
  if (any) return undefined;
  try {
    const owner = { organization: await organizationId(repository) };
    const value = await adminKey();
    await repository.create(keys, { name: 'admin', scopes: [...SCOPES], value }, owner);
    const client = declaresKeys ? undefined : await repository.create(keys, { name: NAME }, owner);
    return {
      organization: owner.organization,
      adminKey: value,
      clientKey: client && String(client.reveal['value']),
    };
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'conflict') return undefined;
    throw error;
  }
}

/** A start that ended half-way may have left it. */
async function organizationId(repository: Repository): Promise<string> {
  const organizations = repository.definitionOf('organization');
  const found = await repository.find(organizations, NAME, EVERYWHERE);
  if (found) return found.id;
  return (await repository.create(organizations, { name: NAME }, EVERYWHERE)).stored.id;
}
