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

/** Give the values of the keys, which must be kept by then: a start that dies in between would lose them. */
export interface KeySources {
  adminKey(): Promise<string>;
  clientKey(): Promise<string>;
}

const NEW_KEYS: KeySources = {
  adminKey: async () => newKeyValue(),
  clientKey: async () => newKeyValue(),
};

/**
 * Makes, on a store without any key, the organization `default`, an admin key and, unless keys are
 * declared, a client key, and gives the values of the keys this one time. Undefined when there are keys already or another
 * process makes them at the same time (requirement console-free-bootstrap).
 */
export async function bootstrap(
  repository: Repository,
  { adminKey, clientKey }: KeySources = NEW_KEYS,
  { declaresKeys = false }: { declaresKeys?: boolean } = {},
): Promise<FirstStart | undefined> {
  const keys = repository.definitionOf('api_key');
  const [any] = await repository.list(keys, { ...EVERYWHERE, limit: 1, matches: () => true });
  if (any) return undefined;
  try {
    const owner = { organization: await organizationId(repository) };
    const value = await adminKey();
    await repository.create(keys, { name: 'admin', scopes: [...SCOPES], value }, owner);
    const client = declaresKeys ? undefined : await clientKey();
    if (client !== undefined) await repository.create(keys, { name: NAME, value: client }, owner);
    return { organization: owner.organization, adminKey: value, clientKey: client };
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
