import { describe, expect, it } from 'vitest';
import { findBudgetAlerts, refusalAlert } from '../../src/alerts/budget-alerts.ts';
import type { Alert } from '../../src/alerts/alert.ts';
import { createAlerts } from '../../src/alerts/create-alerts.ts';
import { createLog } from '../../src/core/log.ts';
import { toBudget } from '../../src/resources/kinds/budget.ts';
import type { Stored } from '../../src/resources/store/stored.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import { verifies } from '../requirements.ts';
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
  const repository = { list: async () => [stored] };
  return {
    clock,
    stored,
    raise: (alert: Alert) => alerts.raise(alert),
    /** What is found now. */
    alerts: () => findBudgetAlerts({ repository, store }, { at: clock.now(), since: clock.now() }),
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

describe('a mark of a budget', () => {
  it.each([
    [4.999_999, []],
    [5, ['10.00 50']],
    [7.999_999, ['10.00 50']],
    [8, ['10.00 50', '10.00 80']],
    [9.999_999, ['10.00 50', '10.00 80']],
    [10, ['10.00 50', '10.00 80', '10.00 100']],
  ])('is crossed with its amount: %d USD', async (dollars, marks) => {
    const { spend, look } = setUp('month');
    await spend(dollars);
    expect(await look()).toEqual(marks);
  });

  it('is none of a budget of nothing of which nothing is spent', async () => {
    const { look, stored } = setUp('month');
    stored.spec['amount'] = '0';
    expect(await look()).toEqual([]);
  });
});

describe('the forecast of a budget', () => {
  /** Texts of what is found after so much of a day, of which so much is spent. */
  async function found(share: number, dollars: number): Promise<string[]> {
    const { clock, spend, alerts } = setUp('day');
    clock.advance(DAY - (clock.now() % DAY) + share * DAY);
    await spend(dollars);
    return (await alerts()).filter(({ type }) => type === 'alert.forecast').map(({ text }) => text);
  }

  it('is told when more is to be expected than there is', async () => {
    expect(await found(0.25, 2.500_001)).toEqual([
      expect.stringMatching(/^Budget team: 10\.000004 USD are to be expected of 10\.00 /),
    ]);
    expect(await found(0.25, 2.5)).toEqual([]);
  });

  it('says nothing before a tenth of the window, nor when all is spent', async () => {
    expect(await found(0.1, 2)).toHaveLength(1);
    expect(await found(0.099, 2)).toEqual([]);
    expect(await found(0.5, 10)).toEqual([]);
  });
});

describe('a call that did not fit into a budget', () => {
  const call = (at: number) => {
    const limit = { used: 2.5 * NANOS, held: NANOS, needed: 7 * NANOS };
    return { id: 'req_1', organization: 'org_1', model: 'acme/dear', at, limit };
  };

  it('is an alert of its own, with what was needed and what is left', () => {
    const { clock, stored } = setUp('lifetime');
    const at = clock.now();
    const day = new Date(at).toISOString().slice(0, 10);
    expect(refusalAlert(toBudget(stored), call(at))).toEqual({
      id: `budget/bud_1/lifetime/10.00/refused/${day}`,
      type: 'alert.refusal',
      organization: 'org_1',
      at,
      text: `Budget team: a call of acme/dear did not fit: it could cost 7.00 USD, and of 10.00 USD 6.50 are left (lifetime); it was refused; first of ${day}: req_1`,
      data: {
        budget: 'bud_1',
        name: 'team',
        window: 'lifetime',
        amount: '10.00',
        spent: '2.50',
        left: '6.50',
        needed: '7.00',
        model: 'acme/dear',
        request: 'req_1',
        day,
      },
    });
  });

  it('names the model that answers in its place', () => {
    const { clock, stored } = setUp('day');
    stored.spec['on_exceed'] = { downgrade: 'acme/cheap' };
    const { text } = refusalAlert(toBudget(stored), call(clock.now()));
    expect(text).toContain('; acme/cheap was to answer it; ');
  });

  it(
    verifies('alerts.refusal', 'leaves every mark to the money that is spent, in their order'),
    async () => {
      const { clock, spend, look, stored, raise } = setUp('month');
      await raise(refusalAlert(toBudget(stored), call(clock.now())));
      await spend(5);
      expect(await look()).toEqual(['10.00 50']);
      await spend(5);
      expect(await look()).toEqual(['10.00 80', '10.00 100']);
    },
  );
});
