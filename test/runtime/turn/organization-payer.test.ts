import { describe, expect, it } from 'vitest';
import { findOrganizationPayer } from '../../../src/runtime/turn/organization-payer.ts';
import { paysAsOrganization } from '../../../src/usage/principal.ts';
import type { Stored } from '../../../src/resources/store/stored.ts';
import type { Repository } from '../../../src/resources/store/repository.ts';

const PAYER = { keyId: 'depl_1', keyName: 'schedule', organizationId: 'org_1' };

const repository = (spec?: Record<string, unknown>) =>
  ({ find: async () => spec && ({ id: 'org_1', spec } as Stored) }) as unknown as Repository;

describe('an organization that pays for its Schedule', () => {
  it('is held to its own limits and to no key', async () => {
    const spending_limit = { day: '2.5' };
    const found = await findOrganizationPayer(repository({ enabled: true, spending_limit }), PAYER);
    expect(found).toEqual({
      ...PAYER,
      organizationEnabled: true,
      scopes: null,
      keySpend: null,
      organizationSpend: { day: 2_500_000_000 },
      rpmCap: null,
      concurrencyCap: null,
      allowedModels: null,
    });
  });

  it('is refused when it is disabled or gone', async () => {
    expect(await findOrganizationPayer(repository({ enabled: false }), PAYER)).toMatchObject({
      organizationEnabled: false,
    });
    expect(await findOrganizationPayer(repository(), PAYER)).toBe('unknown');
  });

  it('stands for Schedules alone', () => {
    expect(paysAsOrganization(PAYER)).toBe(true);
    expect(paysAsOrganization({ ...PAYER, keyId: 'key_depl_1' })).toBe(false);
  });
});
