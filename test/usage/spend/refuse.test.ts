import { describe, expect, it } from 'vitest';
import { toBudget } from '../../../src/resources/kinds/budget.ts';
import type { Stored } from '../../../src/resources/store/stored.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { getRequest } from '../../../src/usage/requests/request-log.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { RefusedBy } from '../../../src/usage/requests/refused-by.ts';
import type { RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createStarts, DOLLAR, outcome, principal, turns } from '../usage-fixtures.ts';

const CENT = DOLLAR / 100;

const blue = (match: object = {}, name = 'blue') =>
  toBudget({
    id: 'bud_1',
    spec: {
      name,
      match,
      amount: '0.05',
      per: 'month',
      timezone: 'UTC',
      on_exceed: 'refuse',
    },
  } as unknown as Stored);

/** A worker that has spent 3 cents, and has reserved one for a call under way. */
async function setUp(payer: Partial<Principal>, call: Partial<RequestStart> = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const starts = createStarts(clock);
  const start = (bound: number) => starts({ principal: principal(payer), bound, ...call });
  const done = ledger.begin(start(3 * CENT));
  await done.admitted;
  done.settle(outcome({ cost: 3 * CENT }));
  await done.settled;
  await ledger.begin(start(CENT)).admitted;
  return {
    store,
    ledger,
    starts,
    /** Refusal of a call of so much, which is settled as the pipeline does it. */
    async refuse(bound: number) {
      const asked = start(bound);
      const entry = ledger.begin(asked);
      const error = await Promise.resolve(entry.admitted).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof GatewayError)) throw new Error('the call was let in');
      const { limit, code, status } = error;
      entry.settle(outcome({ status, result: 'error', errorCode: code, limit, attempts: [] }));
      await turns();
      await ledger.drain();
      return { error, record: await getRequest({ store }, asked.id) };
    },
  };
}

/** The fake clock begins on 21 November 2026. */
const DECEMBER = '2026-12-01T00:00:00.000Z';
const TOMORROW = '2026-11-22T00:00:00.000Z';

describe('a call that does not fit a limit of money', () => {
  it.each<[string, Partial<Principal>, Pick<RequestStart, 'origin'> & Partial<RefusedBy>]>([
    [
      'of its key',
      { keySpend: { lifetime: 9 * CENT, day: 5 * CENT } },
      { limit: 'key', id: 'key_1', name: 'first', per: 'day', free_at: TOMORROW },
    ],
    [
      'of its organization',
      { organizationSpend: { month: 5 * CENT } },
      { limit: 'organization', id: 'org_1', name: null, per: 'month', free_at: DECEMBER },
    ],
    [
      'of a budget',
      { budgets: [blue()] },
      { limit: 'budget', id: 'bud_1', name: 'blue', per: 'month', free_at: DECEMBER },
    ],
    [
      'of a budget of its key',
      { budgets: [blue({ keys: ['first'] })] },
      { limit: 'budget', name: 'blue' },
    ],
    [
      'of its conversation',
      { conversationSpend: 5 * CENT },
      {
        origin: { conversation: 'talk' },
        limit: 'conversation',
        id: 'key_1/talk',
        per: 'lifetime',
        free_at: null,
      },
    ],
  ])(
    verifies(
      'limits.refusal.reason',
      'leaves a record that names the limit %s, with what was needed and what is left',
    ),
    async (_, payer, { origin, ...expected }) => {
      const { refuse } = await setUp(payer, { origin });
      const { record } = await refuse(4 * CENT);
      expect(record?.refused_by).toMatchObject({
        unit: 'money',
        amount: '0.05',
        spent: '0.03',
        reserved: '0.01',
        left: '0.01',
        needed: '0.04',
        ...expected,
      });
    },
  );

  it('is told by a record without a need where the limit is reached before the call is read', async () => {
    const { ledger, refuse } = await setUp({ keySpend: { lifetime: 5 * CENT } });
    expect((await refuse(2 * CENT)).record?.refused_by).toMatchObject({ needed: '0.02' });
    const poor = principal({ keySpend: { lifetime: 3 * CENT } });
    const limit = { owner: 'key', most: 3 * CENT, used: 3 * CENT, held: CENT, needed: null };
    expect(() => ledger.checkFunds(poor)).toThrowError(
      expect.objectContaining({ limit: expect.objectContaining(limit) }),
    );
  });

  it('leaves no trace of a limit in the record of another call', async () => {
    const { ledger, store } = await setUp({});
    const start = createStarts(createFakeClock())({ principal: principal() });
    const entry = ledger.begin(start);
    entry.settle(outcome());
    await ledger.drain();
    expect(await getRequest({ store }, start.id)).not.toHaveProperty('refused_by');
  });
});

describe('the header of a refusal', () => {
  const named = 'budget; name="blue"; per=month; needed="0.04"';
  it.each<[string, Partial<Principal>, string]>([
    ['names the budget to a key that may read budgets', {}, named],
    ['names it to a role that may read costs', { role: 'viewer' }, named],
    ['names it to the scope account', { scopes: new Set(['account']) }, named],
    [
      'says no more than the error to a key without that scope',
      { scopes: new Set(['inference']) },
      'organization; needed="0.04"',
    ],
  ])('%s', async (_, rights, header) => {
    const { refuse } = await setUp({ budgets: [blue()], ...rights });
    const { error } = await refuse(4 * CENT);
    expect(error.headers).toEqual({ 'x-gateway-limit': header });
    expect(error.message).toBe('organization spending limit reached');
  });

  it.each(['\ud83d', 'blue\udc00', '\udc00\ud83d'])(
    'holds a budget of the name %j, and no other call fails with its refusal',
    async (name) => {
      const { ledger, starts, refuse } = await setUp({ budgets: [blue({}, name)] });
      const refused = refuse(4 * CENT);
      const other = ledger.begin(starts({ principal: principal({ organizationId: 'org_2' }) }));
      await other.admitted;
      const { error } = await refused;
      expect(error.code).toBe('organization_spending_limit');
      expect(error.headers?.['x-gateway-limit']).toMatch(/^budget; name="\w*(?:%EF%BF%BD)+"; per=/);
    },
  );

  it('is absent where a cap on tokens refuses', async () => {
    const { refuse } = await setUp({ tokenCaps: { day: 16 } }, { tokens: 1 });
    const { error, record } = await refuse(0);
    expect(error.headers).toBeUndefined();
    expect(record?.refused_by).toMatchObject({
      limit: 'key',
      unit: 'tokens',
      per: 'day',
      amount: 16,
      spent: 15,
      free_at: TOMORROW,
    });
  });
});
