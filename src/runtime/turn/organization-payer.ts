import { toOrganizationLimits } from '../../resources/kinds/key-directory.ts';
import { organization } from '../../resources/kinds/organization.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { KeyFound } from '../../surfaces/gate.ts';
import type { PayingKey, Principal } from '../../usage/principal.ts';

/**
 * The organization in the place of a key: held to its own state and spending limits and to no key's.
 * Its spend is recorded under the `keyId` of the payer.
 */
export async function findOrganizationPayer(
  repository: Repository,
  { keyId, keyName, organizationId }: PayingKey,
  budgets?: Principal['budgets'],
): Promise<KeyFound> {
  const owner = await repository.find(organization, organizationId, { organization: null });
  if (!owner) return 'unknown';
  return {
    keyId,
    keyName,
    organizationId,
    organizationEnabled: owner.spec['enabled'] === true,
    scopes: null,
    keySpend: null,
    organizationSpend: toOrganizationLimits(owner.spec),
    rpmCap: null,
    budgets,
    concurrencyCap: null,
    allowedModels: null,
  };
}
