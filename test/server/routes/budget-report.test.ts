import { describe, expect, it } from 'vitest';
import { budget as definition, toBudget } from '../../../src/resources/kinds/budget.ts';
import { reportBudgets } from '../../../src/server/routes/budget-report.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { createStarts, DOLLAR, outcome, principal } from '../../usage/usage-fixtures.ts';

async function setUp() {
  const { call, repository, store, clock } = makeResources();
  const owners: Record<string, string> = {};
  for (const name of ['acme', 'bolt'])
    owners[name] = String((await call('POST organizations', { body: { name } })).body['id']);
  const declare = async (owner: string, body: object): Promise<string> => {
    const { status, body: made } = await call('POST budgets', {
      body: { organization: owners[owner], amount: '10', per: 'month', ...body },
    });
    expect(made).toMatchObject({ id: expect.anything() });
    expect(status).toBe(201);
    return String(made['id']);
  };
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  /** Has a call begin that counts in the budget. */
  const begin = async (id: string, bound: number) => {
    const stored = await repository.get(definition, id, { organization: null });
    const who = principal({ budgets: [{ ...toBudget(stored), onExceed: 'warn' }] });
    const entry = ledger.begin(start({ principal: who, bound }));
    await entry.admitted;
    return entry;
  };
  const spend = async (id: string, cost: number) => {
    const entry = await begin(id, cost);
    entry.settle(outcome({ cost }));
    await entry.settled;
    await ledger.drain();
  };
  const ask = (owner: string | null) => reportBudgets(owner, { repository, store, clock });
  return { owners, declare, begin, spend, ask, call, clock };
}

describe('the report of budgets', () => {
  it('tells what is spent, held and left in the running window', async () => {
    const { owners, declare, begin, spend, ask } = await setUp();
    const id = await declare('acme', { name: 'team' });
    await spend(id, 2 * DOLLAR);
    await begin(id, 3 * DOLLAR);
    expect(await ask(owners['acme'] ?? '')).toEqual({
      data: [
        {
          id,
          type: 'budget_spending',
          name: 'team',
          organization: owners['acme'],
          organization_name: 'acme',
          enabled: true,
          per: 'month',
          window_start: '2026-11-01T00:00:00.000Z',
          resets_at: '2026-12-01T00:00:00.000Z',
          amount: '10.00',
          spent: '2.00',
          reserved: '3.00',
          left: '8.00',
          alerts_at: [50, 80, 100],
        },
      ],
      next_page: null,
    });
  });

  it('never tells of less than nothing that is left', async () => {
    const { declare, spend, ask } = await setUp();
    const full = await declare('acme', { name: 'full' });
    const over = await declare('acme', { name: 'over' });
    await spend(full, 10 * DOLLAR);
    await spend(over, 11 * DOLLAR);
    expect((await ask(null)).data).toMatchObject([
      { name: 'full', spent: '10.00', left: '0.00' },
      { name: 'over', spent: '11.00', left: '0.00' },
    ]);
  });

  it.each([
    ['day', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['week', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['lifetime', null, null],
  ])('shows the window of a budget per %s', async (per, windowStart, resetsAt) => {
    const { declare, ask } = await setUp();
    await declare('acme', { name: 'team', per });
    expect((await ask(null)).data).toMatchObject([
      { per, window_start: windowStart, resets_at: resetsAt },
    ]);
  });

  it('begins anew with the next window', async () => {
    const { declare, spend, ask, clock } = await setUp();
    const daily = await declare('acme', { name: 'daily', per: 'day', timezone: 'Asia/Tokyo' });
    await spend(daily, DOLLAR);
    clock.advance(15 * 3_600_000 - 1);
    expect((await ask(null)).data).toMatchObject([
      { spent: '1.00', resets_at: '2026-11-21T15:00:00.000Z' },
    ]);
    clock.advance(1);
    expect((await ask(null)).data).toMatchObject([
      { spent: '0.00', window_start: '2026-11-21T15:00:00.000Z' },
    ]);
  });

  it('lists those of one organization, or of all with their names', async () => {
    const { owners, declare, ask } = await setUp();
    await declare('acme', { name: 'one' });
    await declare('bolt', { name: 'two', enabled: false });
    await declare('bolt', { name: 'three' });
    const rows = async (owner: string | null) =>
      (await ask(owner)).data.map((row) => [row.organization_name, row.name, row.enabled]);
    const ofBolt = [
      ['bolt', 'two', false],
      ['bolt', 'three', true],
    ];
    expect(await rows(owners['bolt'] ?? '')).toEqual(ofBolt);
    expect(await rows(null)).toEqual([['acme', 'one', true], ...ofBolt]);
    expect(await rows('org_none')).toEqual([]);
  });
});
