import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { LedgerOptions } from '../../../src/usage/ledger/ledger-store.ts';
import type { LedgerEntry, RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createFaultyStore,
  createStarts,
  DAY,
  DOLLAR,
  fateOf,
  outcome,
  principal,
  turns,
  nth,
} from '../usage-fixtures.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const ORGANIZATION = { kind: 'organization', id: 'org_1' } as const;

function setUp(options: Partial<LedgerOptions> = {}) {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const open = (worker: string) => createLedger({ store, clock, worker, ...options });
  return { clock, store, open, ledger: open('w1'), start: createStarts(clock) };
}

const limited = principal({ keySpend: { lifetime: 0.45 * DOLLAR } });

describe('a ledger without limits', () => {
  it('commits all begins of one turn at once, and all settles of a few milliseconds', async () => {
    const { clock, store, ledger, start } = setUp();
    const entries = Array.from({ length: 50 }, () => ledger.begin(start()));
    await Promise.all(entries.map(({ durable }) => durable));
    expect(store.takeCommits()).toHaveLength(1);
    for (const entry of entries) {
      entry.settle(outcome());
      await turns(1);
    }
    expect(store.takeCommits()).toEqual([]);
    clock.advance(5);
    await turns();
    expect(store.takeCommits()).toHaveLength(1);
    expect((await listRequests({ store }, { status: 'ok', limit: 50 })).data).toHaveLength(50);
  });

  it('commits settles at once when there are many of them', async () => {
    const { store, ledger, start } = setUp();
    const entries = Array.from({ length: 100 }, () => ledger.begin(start()));
    await Promise.all(entries.map(({ durable }) => durable));
    for (const entry of entries) entry.settle(outcome());
    await turns();
    expect((await listRequests({ store }, { status: 'ok', limit: 100 })).data).toHaveLength(100);
  });

  it('lets the call be sent while the start of its record is committed', async () => {
    const { ledger, start } = setUp();
    const request = start();
    const entry = ledger.begin(request);
    expect(entry.admitted).toBeUndefined();
    await entry.durable;
  });

  it('makes the call wait in the mode before_call', async () => {
    const { store, ledger, start } = setUp({ mode: 'before_call' });
    const request = start();
    await ledger.begin(request).admitted;
    expect(await getRequest({ store }, request.id)).toMatchObject({
      result: 'pending',
      status: null,
    });
  });

  it(
    verifies(
      'requests.record',
      'leaves one record with attempts, losses, usage, cost and overhead',
    ),
    async () => {
      const { clock, store, ledger, start } = setUp();
      const request = start({ stream: true });
      const entry = ledger.begin(request);
      await entry.durable;
      clock.advance(20);
      const attempts = [
        { provider: 'acme', model: 'one', status: 503, outcome: 'status_503', ms: 3 },
        { provider: 'beta', model: 'uno', status: 200, outcome: 'ok', ms: 9 },
      ];
      entry.settle(
        outcome({
          attempts,
          losses: ['tools[0].strict'],
          cost: 1_500,
          answeredBy: { model: 'acme/one', provider: 'beta', upstreamModel: 'uno' },
          content: { request: 'secret prompt', response: 'secret answer' },
        }),
      );
      await ledger.drain();
      expect((await listRequests({ store })).data).toEqual([
        {
          id: request.id,
          alias: null,
          conversation: null,
          end_user: null,
          tags: null,
          created_at: '2026-11-21T00:00:00.000Z',
          organization: 'org_1',
          key: { id: 'key_1', name: 'first' },
          surface: 'chat',
          model: 'acme/one',
          stream: true,
          answered_by: { model: 'acme/one', provider: 'beta', upstream_model: 'uno' },
          status: 200,
          result: 'ok',
          error_code: null,
          attempts: [attempts[0], { ...attempts[1], verdict: 'final' }],
          usage: {
            input_tokens: 10,
            cache_read_tokens: 0,
            cache_write_5m_tokens: 0,
            cache_write_1h_tokens: 0,
            output_tokens: 5,
            reasoning_tokens: 0,
            images: 0,
            seconds: 0,
          },
          estimated: false,
          cost: '0.0000015',
          losses: ['tools[0].strict'],
          overhead_us: 80,
          first_content_ms: 7,
          total_ms: 20,
        },
      ]);
    },
  );

  it(verifies('requests.record', 'keeps content only when that is switched on'), async () => {
    const content = { request: 'p'.repeat(300_000), response: 'answer' };
    const { store, ledger, start } = setUp({ logContent: true });
    const request = start();
    ledger.begin(request).settle(outcome({ content }));
    await ledger.drain();
    const record = await getRequest({ store }, request.id);
    expect(record?.content?.response).toBe('answer');
    expect(record?.content?.request).toHaveLength(256 * 1024);
  });

  it(verifies('store.ledger.exactly-once', 'counts only the first settle'), async () => {
    const { store, clock, ledger, start } = setUp();
    const entry = ledger.begin(start());
    await entry.durable;
    entry.settle(outcome({ cost: 5 }));
    entry.settle(outcome({ cost: 7 }));
    await turns();
    entry.settle(outcome({ cost: 9 }));
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
      settled: 5,
      reserved: 0,
    });
    expect(await usageReport({ store }, {})).toMatchObject([{ requests: 1, cost: '0.000000005' }]);
  });

  it(
    verifies('store.ledger.abort', 'has one usage row with what an aborted stream used'),
    async () => {
      const { store, ledger, start } = setUp();
      const entry = ledger.begin(start({ stream: true }));
      await entry.durable;
      const usage = { ...outcome().usage, input: 42, output: 5 };
      entry.settle(outcome({ status: 499, result: 'aborted', usage, estimated: true, cost: 47 }));
      entry.settle(outcome({ status: 200 }));
      await ledger.drain();
      expect((await listRequests({ store })).data).toMatchObject([
        {
          status: 499,
          result: 'aborted',
          estimated: true,
          usage: { input_tokens: 42, output_tokens: 5 },
        },
      ]);
      expect(await usageReport({ store }, {})).toMatchObject([
        { requests: 1, errors: 0, estimated: 1 },
      ]);
    },
  );
});

describe('a ledger with limits', () => {
  it(
    verifies(
      'store.ledger.never-exceeds',
      'admits at most 3 of 20 calls of 0.15 under a limit of 0.45',
    ),
    async () => {
      const { open, start } = setUp();
      const ledgers = [open('a'), open('b')];
      const entries = Array.from({ length: 20 }, (_, i) =>
        nth(ledgers, i % 2).begin(start({ principal: limited, bound: 0.15 * DOLLAR })),
      );
      const fates = await Promise.all(entries.map(fateOf));
      expect(fates.filter((fate) => fate === 'admitted')).toHaveLength(3);
      expect(fates.filter((fate) => fate === 'key_spending_limit')).toHaveLength(17);
    },
  );

  it(
    verifies(
      'limits.spend.key-402',
      'refuses with the exact words once the key has spent its limit',
    ),
    async () => {
      const { ledger, start } = setUp();
      const first = ledger.begin(start({ principal: limited, bound: 0.45 * DOLLAR }));
      await first.admitted;
      first.settle(outcome({ cost: 0.45 * DOLLAR }));
      const second = ledger.begin(start({ principal: limited, bound: 0 }));
      await expect(second.admitted).rejects.toMatchObject({
        status: 402,
        message: 'API key spending limit exceeded',
      });
    },
  );

  it(
    verifies(
      'limits.spend.org-402',
      'refuses every key of an organization that has spent its limit',
    ),
    async () => {
      const { ledger, start } = setUp();
      const organizationSpend = { month: 100 };
      const first = ledger.begin(
        start({ principal: principal({ organizationSpend }), bound: 100 }),
      );
      await first.admitted;
      first.settle(outcome({ cost: 100 }));
      const other = principal({ keyId: 'key_2', organizationSpend });
      await expect(
        ledger.begin(start({ principal: other, bound: 1 })).admitted,
      ).rejects.toMatchObject({
        status: 402,
        message: 'organization spending limit reached',
      });
    },
  );

  it('refuses a bound that is larger than what is left, and takes one that just fits', async () => {
    const { ledger, start } = setUp();
    const who = principal({ keySpend: { lifetime: 100 } });
    const first = ledger.begin(start({ principal: who, bound: 60 }));
    expect(await fateOf(first)).toBe('admitted');
    expect(await fateOf(ledger.begin(start({ principal: who, bound: 41 })))).toBe(
      'key_spending_limit',
    );
    expect(await fateOf(ledger.begin(start({ principal: who, bound: 40 })))).toBe('admitted');
  });

  it(
    verifies(
      'store.ledger.release-on-restart',
      'releases what a call without billable output reserved',
    ),
    async () => {
      const { ledger, start } = setUp();
      const first = ledger.begin(start({ principal: limited, bound: 0.45 * DOLLAR }));
      await first.admitted;
      first.settle(outcome({ status: 503, result: 'error', cost: 0 }));
      await ledger.drain();
      const second = ledger.begin(start({ principal: limited, bound: 0.45 * DOLLAR }));
      expect(await fateOf(second)).toBe('admitted');
    },
  );

  it(
    verifies(
      'store.ledger.missing-usage',
      'charges an estimate and marks it so, and restores everything when the call failed',
    ),
    async () => {
      const { store, clock, ledger, start } = setUp();
      const requests = [0, 1].map(() => start({ principal: limited, bound: 1_000 }));
      const [estimated, failed] = requests.map((request) => ledger.begin(request));
      await Promise.all([estimated?.admitted, failed?.admitted]);
      estimated?.settle(outcome({ estimated: true, cost: 400 }));
      failed?.settle(outcome({ status: 502, result: 'error', cost: 0 }));
      await ledger.drain();
      expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
        settled: 400,
        reserved: 0,
      });
      const records = (await listRequests({ store })).data.map(({ estimated, cost }) => [
        estimated,
        cost,
      ]);
      expect(records).toContainEqual([true, '0.0000004']);
      expect(records).toContainEqual([false, '0.00']);
    },
  );

  it.each([Number.NaN, Infinity, -5, 0.5])(
    'charges the bound, as an estimate, when the cost is %s',
    async (cost) => {
      const { store, clock, ledger, start } = setUp();
      const request = start({ principal: limited, bound: 700 });
      const usage = { ...outcome().usage, input: cost };
      ledger.begin(request).settle(outcome({ cost, usage }));
      await ledger.drain();
      expect((await readSpend({ store }, KEY, clock.now())).lifetime.settled).toBe(700);
      expect(await getRequest({ store }, request.id)).toMatchObject({
        estimated: true,
        result: 'ok',
      });
    },
  );

  it('replaces what was reserved by what it cost', async () => {
    const { store, clock, ledger, start } = setUp();
    const entry = ledger.begin(start({ principal: limited, bound: 1_000 }));
    await entry.admitted;
    expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
      settled: 0,
      reserved: 1_000,
    });
    entry.settle(outcome({ cost: 300 }));
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
      settled: 300,
      reserved: 0,
    });
  });

  it('charges a call that ends in the turn that it began', async () => {
    const { store, clock, ledger, start } = setUp();
    const entry = ledger.begin(start({ principal: limited, bound: 1_000 }));
    entry.settle(outcome({ cost: 300 }));
    expect(await fateOf(entry)).toBe('admitted');
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
      settled: 300,
      reserved: 0,
    });
    expect(await store.list({ prefix: ['open'] })).toEqual([]);
  });

  it('charges a call whenever it ends, also just when the last commit is over', async () => {
    for (let moments = 0; moments < 30; moments++) {
      const { store, clock, ledger, start } = setUp();
      const entry = ledger.begin(start({ principal: limited, bound: 1_000 }));
      await entry.admitted;
      for (let moment = 0; moment < moments; moment++) await Promise.resolve();
      entry.settle(outcome({ cost: 300 }));
      await ledger.drain();
      const { lifetime } = await readSpend({ store }, KEY, clock.now());
      expect({ moments, ...lifetime }).toEqual({ moments, settled: 300, reserved: 0 });
    }
  });

  it('keeps the record of a refused call', async () => {
    const { store, ledger, start } = setUp();
    const request = start({ principal: limited, bound: DOLLAR });
    const entry = ledger.begin(request);
    expect(await fateOf(entry)).toBe('key_spending_limit');
    entry.settle(outcome({ status: 402, result: 'error', errorCode: 'key_spending_limit' }));
    await ledger.drain();
    expect(await getRequest({ store }, request.id)).toMatchObject({
      status: 402,
      error_code: 'key_spending_limit',
    });
  });

  it(
    verifies(
      'keys.limit-windows',
      'frees a day limit at midnight UTC and a month limit at its first',
    ),
    async () => {
      const { clock, ledger, start } = setUp();
      clock.advance(DAY - 1);
      const day = principal({ keySpend: { day: 100 } });
      const month = principal({ keyId: 'key_2', keySpend: { month: 100 } });
      const life = principal({ keyId: 'key_3', keySpend: { lifetime: 100 } });
      const fates = () =>
        Promise.all(
          [day, month, life].map(async (who) => {
            const entry = ledger.begin(start({ principal: who, bound: 100 }));
            const fate = await fateOf(entry);
            entry.settle(outcome({ cost: fate === 'admitted' ? 100 : 0 }));
            return fate === 'admitted';
          }),
        );
      expect(await fates()).toEqual([true, true, true]);
      expect(await fates()).toEqual([false, false, false]);
      clock.advance(1);
      expect(await fates()).toEqual([true, false, false]);
      clock.advance(9 * DAY);
      expect(await fates()).toEqual([true, true, false]);
    },
  );

  it('charges a call to the day on which it began', async () => {
    const { store, clock, ledger, start } = setUp();
    clock.advance(DAY - 1);
    const who = principal({ keySpend: { day: 100 } });
    const entry = ledger.begin(start({ principal: who, bound: 100 }));
    await entry.admitted;
    clock.advance(2);
    entry.settle(outcome({ cost: 60 }));
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).day).toEqual({ settled: 0, reserved: 0 });
    expect((await readSpend({ store }, KEY, clock.now() - 2)).day).toEqual({
      settled: 60,
      reserved: 0,
    });
  });

  it('counts what ended just before the first call with a limit begins', async () => {
    const { ledger, start } = setUp();
    ledger.begin(start()).settle(outcome({ cost: 80 }));
    const who = principal({ keySpend: { lifetime: 100 } });
    expect(await fateOf(ledger.begin(start({ principal: who, bound: 21 })))).toBe(
      'key_spending_limit',
    );
    expect(await fateOf(ledger.begin(start({ principal: who, bound: 20 })))).toBe('admitted');
  });

  it('counts what was spent before a limit was set, by any worker', async () => {
    const { clock, open, start } = setUp();
    const [one, two] = [open('a'), open('b')];
    for (const ledger of [one, two]) {
      const entry = ledger.begin(start());
      await entry.durable;
      entry.settle(outcome({ cost: 40 }));
    }
    clock.advance(5);
    await turns();
    const who = principal({ keySpend: { lifetime: 100 } });
    expect(await fateOf(one.begin(start({ principal: who, bound: 21 })))).toBe(
      'key_spending_limit',
    );
    expect(await fateOf(two.begin(start({ principal: who, bound: 20 })))).toBe('admitted');
    await Promise.all([one.drain(), two.drain()]);
    expect(await fateOf(open('c').begin(start({ principal: who, bound: 1 })))).toBe(
      'key_spending_limit',
    );
  });

  it('adds what calls without a limit cost within a second, by a timer alone', async () => {
    const { clock, store, ledger, start } = setUp();
    const entry = ledger.begin(start());
    await entry.durable;
    entry.settle(outcome({ cost: 40 }));
    clock.advance(5);
    await turns();
    // One for the key, one for the organization.
    const unfolded = (): Promise<unknown[]> => store.list({ prefix: ['unfolded'], limit: 10 });
    expect(await unfolded()).toHaveLength(2);
    clock.advance(999);
    await turns();
    expect(await unfolded()).toHaveLength(2);
    clock.advance(1);
    await turns();
    expect(await unfolded()).toEqual([]);
    expect((await readSpend({ store }, KEY, clock.now())).lifetime.settled).toBe(40);
  });

  it('tells who has spent a limit before anything is begun', async () => {
    const { open, ledger, start } = setUp();
    expect(ledger.checkFunds(principal())).toBeUndefined();
    const who = principal({ organizationSpend: { day: 100 } });
    expect(await codeOf(ledger.checkFunds(who))).toBe('fulfilled');
    const entry = ledger.begin(start({ principal: who, bound: 100 }));
    await entry.admitted;
    expect(ledger.checkFunds(who)).toBeUndefined();
    entry.settle(outcome({ cost: 100 }));
    await turns();
    expect(() => ledger.checkFunds(who)).toThrow('organization spending limit reached');
    expect(await codeOf(open('other').checkFunds(who))).toBe('organization_spending_limit');
  });
});

describe('a ledger over several keys', () => {
  it(
    verifies('keys.usage.per-organization', 'adds up the keys of one organization and of no other'),
    async () => {
      const { store, clock, ledger, start } = setUp();
      const keys = [
        principal(),
        principal({ keyId: 'key_2', keySpend: { lifetime: DOLLAR } }),
        principal({ keyId: 'key_3', organizationId: 'org_2' }),
      ];
      for (const [index, who] of keys.entries()) {
        const entry = ledger.begin(start({ principal: who, bound: 1_000 }));
        await entry.durable;
        entry.settle(outcome({ cost: 10 ** (index + 1) }));
      }
      await ledger.drain();
      const spent = async (id: string) =>
        (await readSpend({ store }, { kind: 'organization', id }, clock.now())).month.settled;
      expect([await spent('org_1'), await spent('org_2')]).toEqual([110, 1_000]);
      const report = await usageReport({ store }, { groupBy: ['organization'] });
      expect(
        report.map(({ organization, requests, cost }) => [organization, requests, cost]),
      ).toEqual([
        ['org_1', 2, '0.00000011'],
        ['org_2', 1, '0.000001'],
      ]);
    },
  );
});

describe('a ledger whose store fails', () => {
  const begin = (ledger: ReturnType<typeof setUp>['ledger'], request: RequestStart): LedgerEntry =>
    ledger.begin(request);

  it('refuses what is being begun, then everything at once, until the store is well', async () => {
    const errors: unknown[] = [];
    const { store, clock, ledger, start } = setUp({ report: (error) => errors.push(error) });
    store.fail('before');
    const entries = [
      begin(ledger, start()),
      begin(ledger, start({ principal: limited, bound: 1 })),
    ];
    expect(await Promise.all(entries.map(fateOf))).toEqual([
      'persistence_failed',
      'persistence_failed',
    ]);
    expect(() => ledger.begin(start())).toThrow('the request could not be recorded');
    expect(errors).toHaveLength(1);
    clock.advance(1_000);
    await turns();
    expect(() => ledger.begin(start())).toThrow('the request could not be recorded');
    store.fail(undefined);
    clock.advance(1_000);
    await turns();
    expect(await fateOf(ledger.begin(start()))).toBe('admitted');
  });

  it.each(['before', 'after'] as const)(
    verifies(
      'store.ledger.exactly-once',
      'settles once what ended while the store failed (%s the commit was made)',
    ),
    async (how) => {
      const { store, clock, ledger, start } = setUp();
      const requests = [start(), start({ principal: limited, bound: 500 })];
      const entries = requests.map((request) => ledger.begin(request));
      await Promise.all(entries.map(({ durable }) => durable));
      store.fail(how);
      for (const entry of entries) entry.settle(outcome({ cost: 100 }));
      await turns();
      clock.advance(5_000);
      await turns();
      store.fail(undefined);
      clock.advance(1_000);
      await ledger.drain();
      expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
        settled: 200,
        reserved: 0,
      });
      expect((await readSpend({ store }, ORGANIZATION, clock.now())).lifetime.settled).toBe(200);
      expect(await usageReport({ store }, {})).toMatchObject([{ requests: 2, cost: '0.0000002' }]);
      expect(await store.list({ prefix: ['open'] })).toEqual([]);
      expect(await store.list({ prefix: ['unfolded'] })).toEqual([]);
      expect((await listRequests({ store })).data.map(({ result }) => result)).toEqual([
        'ok',
        'ok',
      ]);
    },
  );

  it(
    verifies(
      'store.ledger.exactly-once',
      'releases a reservation that was made although the commit failed',
    ),
    async () => {
      const landed: unknown[] = [];
      const { store, clock, ledger, start } = setUp({
        onLanded: ({ id }, { errorCode }) => landed.push([id, errorCode]),
      });
      store.fail('after');
      const request = start({ principal: limited, bound: 0.45 * DOLLAR });
      expect(await fateOf(ledger.begin(request))).toBe('persistence_failed');
      expect((await readSpend({ store }, KEY, clock.now())).lifetime.reserved).toBe(0.45 * DOLLAR);
      store.fail(undefined);
      clock.advance(1_000);
      await turns();
      await ledger.drain();
      expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
        settled: 0,
        reserved: 0,
      });
      expect(await getRequest({ store }, request.id)).toMatchObject({
        result: 'error',
        error_code: 'persistence_failed',
      });
      expect(landed).toEqual([[request.id, 'persistence_failed']]);
    },
  );

  it('finds a commit that is made only after it was given up', async () => {
    const { store, clock, ledger, start } = setUp();
    const entry = ledger.begin(start({ principal: limited, bound: 500 }));
    await entry.admitted;
    let late: Parameters<typeof store.commit>[0] = [];
    store.refuse = (ops) => {
      late = ops;
      return new StoreError('unavailable', 'timed out');
    };
    entry.settle(outcome({ cost: 100 }));
    await turns();
    store.refuse = undefined;
    // The store looks as if nothing had happened, and then the lost commit arrives before the next.
    store.interfere = async () => {
      store.interfere = undefined;
      expect(await store.commit(late)).toMatchObject({ ok: true });
    };
    clock.advance(1_000);
    await turns();
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).lifetime).toEqual({
      settled: 100,
      reserved: 0,
    });
    expect(await usageReport({ store }, {})).toMatchObject([{ requests: 1 }]);
  });

  it('sets one record apart that the store does not take, and goes on with the others', async () => {
    const errors: unknown[] = [];
    const { store, clock, ledger, start } = setUp({ report: (error) => errors.push(error) });
    store.refuse = (ops) =>
      JSON.stringify(ops).includes('poison') ? new StoreError('too_large', 'too large') : undefined;
    const good = ledger.begin(start());
    const bad = ledger.begin(start({ surface: 'poison' }));
    expect([await fateOf(good), await fateOf(bad)]).toEqual([
      'persistence_failed',
      'persistence_failed',
    ]);
    good.settle(outcome({ cost: 3 }));
    bad.settle(outcome({ cost: 0, errorCode: 'poison' }));
    const next = ledger.begin(start({ principal: limited, bound: 1 }));
    expect(await fateOf(next)).toBe('admitted');
    await ledger.drain();
    expect((await readSpend({ store }, KEY, clock.now())).lifetime.settled).toBe(3);
    expect(errors).toHaveLength(2);
  });

  it('drains once the store is well again', async () => {
    const { store, clock, ledger, start } = setUp();
    const request = start();
    const entry = ledger.begin(request);
    await entry.durable;
    store.fail('before');
    entry.settle(outcome());
    let drained = false;
    const draining = ledger.drain().then(() => (drained = true));
    await turns();
    expect(drained).toBe(false);
    store.fail(undefined);
    clock.advance(1_000);
    await draining;
    expect(await getRequest({ store }, request.id)).toMatchObject({ result: 'ok' });
  });
});
