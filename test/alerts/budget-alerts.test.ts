import { describe, expect, it } from 'vitest';
import { findBudgetAlerts } from '../../src/alerts/budget-alerts.ts';
import { createAlerts } from '../../src/alerts/create-alerts.ts';
import { createLog } from '../../src/core/log.ts';
import { toBudget } from '../../src/resources/kinds/budget.ts';
import type { Stored } from '../../src/resources/store/stored.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createStarts, DAY, outcome, principal } from '../usage/usage-fixtures.ts';

const HOUR = 3_600_000;
const NANOS = 1_000_000_000;

function storedBudget(per: string): Stored {
  const at = new Date(0).toISOString();
  return {
    id: 'bud_1',
    version: 1,
    organization: 'org_1',
    created_at: at,
    updated_at: at,
    spec: {
      name: 'team',
      labels: {},
      amount: '10.00',
      per,
      timezone: 'UTC',
      on_exceed: 'warn',
      enabled: true,
    },
  } as unknown as Stored;
}

/** A budget of 10 USD, calls that count in it, and what its targets are told. */
function setUp(per: string) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const stored = storedBudget(per);
  const start = createStarts(clock);
  const told: string[] = [];
  const alerts = createAlerts({
    store,
    jobs: { toAdd: () => [] },
    webhooks: {
      toSend: ({ subject }) => {
        told.push(subject.split('/').slice(-2).join(' '));
        return [];
      },
    },
    sender: { send: async () => ({ isDelivered: true }) as never },
    sendMail: async () => ({ isDelivered: true }) as never,
    log: createLog({ clock, level: 'silent', format: 'json', write: () => undefined }),
    targets: { webhooks: ['https://ops.example'], chats: [], mails: [] },
  });
  return {
    clock,
    stored,
    async spend(dollars: number): Promise<void> {
      const entry = ledger.begin(
        start({ principal: principal({ budgets: [toBudget(stored)] }), bound: 1 }),
      );
      await entry.admitted;
      entry.settle(outcome({ cost: dollars * NANOS }));
      await entry.settled;
    },
    /** What is told beyond what was told before, as `amount mark`. */
    async look(since = clock.now()): Promise<string[]> {
      const before = told.length;
      const repository = { list: async () => [stored] };
      const at = clock.now();
      for (const alert of await findBudgetAlerts({ repository, store }, { at, since }))
        await alerts.raise(alert);
      return told.slice(before).filter((one) => !one.endsWith('forecast'));
    },
  };
}

describe('alerts of a budget', () => {
  it('tell of the marks of another amount anew', async () => {
    const { spend, look, stored } = setUp('month');
    await spend(10);
    expect(await look()).toEqual(['10.00 50', '10.00 80', '10.00 100']);
    expect(await look()).toEqual([]);
    stored.spec['amount'] = '40.00';
    expect(await look()).toEqual([]);
    await spend(25);
    expect(await look()).toEqual(['40.00 50', '40.00 80']);
  });

  it('tell of what was crossed just before everything stood still over the end of a window', async () => {
    const { clock, spend, look } = setUp('day');
    clock.advance(DAY - (clock.now() % DAY) - 1_000);
    const before = clock.now();
    expect(await look(before)).toEqual([]);
    await spend(6);
    clock.advance(9 * HOUR);
    expect(await look(before)).toEqual(['10.00 50']);
    expect(await look(clock.now())).toEqual([]);
  });

  it('tell of no window that ended long ago', async () => {
    const { clock, spend, look } = setUp('day');
    const before = clock.now();
    await spend(6);
    clock.advance(30 * DAY);
    expect(await look(before)).toEqual([]);
  });

  it('come once where the window has no end, years later too', async () => {
    const { clock, spend, look } = setUp('lifetime');
    await spend(6);
    expect(await look()).toEqual(['10.00 50']);
    clock.advance(800 * DAY);
    expect(await look()).toEqual([]);
    await spend(3);
    expect(await look()).toEqual(['10.00 80']);
  });
});
