import { describe, expect, it } from 'vitest';
import { createPayerGate } from '../../../src/runtime/turn/payer-gate.ts';
import type { PayerGateDeps } from '../../../src/runtime/turn/payer-gate.ts';
import { PRINCIPAL } from '../loop-bench.ts';

const PAYER = { keyId: 'key_1', keyName: 'one', organizationId: 'org_1' };

function gate(overrides: Partial<PayerGateDeps> = {}) {
  return createPayerGate({
    find: () => PRINCIPAL,
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: { enter: async () => () => undefined },
    ...overrides,
  });
}

describe('the payer of a turn', () => {
  it('is looked for by all that is known of it', async () => {
    const asked: unknown[] = [];
    const find: PayerGateDeps['find'] = (payer) => {
      asked.push(payer);
      return PRINCIPAL;
    };
    await gate({ find })(PAYER);
    expect(asked).toEqual([PAYER]);
  });

  it('is let in whatever its scopes are', async () => {
    const find = () => ({ ...PRINCIPAL, scopes: new Set(['sessions']) });
    expect(await gate({ find })(PAYER)).toMatchObject({ principal: { keyId: 'key_1' } });
  });

  it.each([
    ['revoked', 'api_key_revoked'],
    ['expired', 'api_key_expired'],
    ['unknown', 'invalid_api_key'],
  ] as const)('is refused when its key is %s', async (found, code) => {
    await expect(gate({ find: () => found })(PAYER)).rejects.toMatchObject({ code });
  });

  it('is refused when its organization is disabled', async () => {
    const find = () => ({ ...PRINCIPAL, organizationEnabled: false });
    await expect(gate({ find })(PAYER)).rejects.toMatchObject({ code: 'organization_disabled' });
  });

  it('is held to its limits', async () => {
    const rates = {
      isPlatformFull: () => false,
      admitPlatform: () => true,
      admitKey: () => false,
    };
    await expect(gate({ rates })(PAYER)).rejects.toMatchObject({ code: 'key_rate_limited' });
    const find = () => ({ ...PRINCIPAL, concurrencyCap: 1 });
    const concurrency = { enter: async () => undefined };
    await expect(gate({ find, concurrency })(PAYER)).rejects.toMatchObject({
      code: 'key_concurrency_exceeded',
    });
  });
});
