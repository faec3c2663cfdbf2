import { SCOPES } from './key.ts';
import type { Repository } from './repository.ts';

export interface FirstStart {
  organization: string;
  adminKey: string;
  clientKey: string;
}

/**
 * On an empty store makes the organization `default`, an admin key and a client key, and gives the
 * values of the keys this one time. Undefined when there is an organization already (requirement
 * console-free-bootstrap).
 */
export async function bootstrap(repository: Repository): Promise<FirstStart | undefined> {
  const organizations = repository.definitionOf('organization');
  const keys = repository.definitionOf('api_key');
  const everywhere = { organization: null };
  const any = await repository.list(organizations, {
    ...everywhere,
    limit: 1,
    matches: () => true,
  });
  if (any.length > 0) return undefined;
  const { stored } = await repository.create(organizations, { name: 'default' }, everywhere);
  const owner = { organization: stored.id };
  const admin = await repository.create(keys, { name: 'admin', scopes: [...SCOPES] }, owner);
  const client = await repository.create(keys, { name: 'default' }, owner);
  return {
    organization: stored.id,
    adminKey: String(admin.reveal['value']),
    clientKey: String(client.reveal['value']),
  };
}
