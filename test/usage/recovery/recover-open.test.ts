import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { startRecovery } from '../../../src/usage/recovery/start-recovery.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  createFaultyStore,
  createStarts,
  fateOf,
  outcome,
  principal,
  turns,
} from '../usage-fixtures.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const NOTHING = { interrupted: 0, charged: 0 };
const limited = principal({ keySpend: { lifetime: 1_000 } });

async function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  /** A worker that dies (or sleeps) when its beats fail. */
  const open = async (worker: string) => {
    const beats = createFaultyStore(store);
    const lease = createWorkerLease({ store: beats, clock, worker });
    await lease.start();
    const ledger = createLedger({ store, clock, worker });
    return { lease, ledger, sleep: () => beats.fail('before'), wake: () => beats.fail(undefined) };
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await turns(2);
    }
  };
  const spend = async () => (await readSpend({ store }, KEY, clock.now())).lifetime;
  const recover = () => recoverOpen({ store });
  return { clock, store, open, pass, spend, recover, start: createStarts(clock) };
}

describe('recovering after a worker that died', () => {
  it(
    verifies(
      'store.ledger.release-on-restart',
      'charges what it had reserved, marks the record and holds nothing any more',
    ),
    async () => {
      const { store, open, pass, spend, recover, start } = await setUp();
      const dead = await open('dead');
      const living = await open('living');
      const request = start({ principal: limited, bound: 700 });
      await dead.ledger.begin(request).admitted;
      dead.sleep();
      expect(await fateOf(living.ledger.begin(start({ principal: limited, bound: 700 })))).toBe(
        'key_spending_limit',
      );
      await pass(16_000);
      expect(await recover()).toEqual({ interrupted: 1, charged: 700 });
      expect(await spend()).toEqual({ settled: 700, reserved: 0 });
      expect(await getRequest({ store }, request.id)).toMatchObject({
        result: 'interrupted',
        error_code: 'worker_lost',
        status: null,
        cost: '0.0000007',
        estimated: true,
      });
      expect(await fateOf(living.ledger.begin(start({ principal: limited, bound: 301 })))).toBe(
        'key_spending_limit',
      );
      expect(await fateOf(living.ledger.begin(start({ principal: limited, bound: 300 })))).toBe(
        'admitted',
      );
      expect(await recover()).toEqual(NOTHING);
    },
  );

  it('leaves alone who renews its lease after it was missed', async () => {
    const { store, open, pass, spend, start } = await setUp();
    const slow = await open('slow');
    await slow.ledger.begin(start({ principal: limited, bound: 700 })).admitted;
    slow.sleep();
    await pass(16_000);
    slow.wake();
    const others = createFaultyStore(store);
    others.interfere = () => slow.lease.renew();
    expect(await recoverOpen({ store: others })).toEqual(NOTHING);
    expect(await spend()).toEqual({ settled: 0, reserved: 700 });
    expect(await store.get(['fence', 'slow'])).not.toMatchObject({ value: { dead: true } });
  });

  it('marks the records of calls that had no reservation', async () => {
    const { store, open, pass, recover, start } = await setUp();
    const dead = await open('dead');
    const [ended, pending] = [start(), start()];
    const entry = dead.ledger.begin(ended);
    await Promise.all([entry.durable, dead.ledger.begin(pending).durable]);
    entry.settle(outcome());
    await pass(1_000);
    dead.sleep();
    await pass(16_000);
    expect(await recover()).toEqual({ interrupted: 1, charged: 0 });
    expect(await getRequest({ store }, ended.id)).toMatchObject({ result: 'ok' });
    expect(await getRequest({ store }, pending.id)).toMatchObject({ result: 'interrupted' });
    expect(await store.list({ prefix: ['flight'] })).toEqual([]);
  });

  it('marks every call that began in one commit once, whoever else recovers', async () => {
    const { store, open, pass, recover, start } = await setUp();
    const dead = await open('dead');
    const living = await open('living');
    const requests = Array.from({ length: 300 }, () => start());
    await Promise.all(requests.map((request) => dead.ledger.begin(request).durable));
    const kept = start();
    await living.ledger.begin(kept).durable;
    dead.sleep();
    await pass(16_000);
    const results = await Promise.all([recover(), recover()]);
    expect(results.reduce((sum, { interrupted }) => sum + interrupted, 0)).toBe(300);
    const { data } = await listRequests({ store }, { status: 'interrupted', limit: 1_000 });
    expect(data).toHaveLength(300);
    expect(await getRequest({ store }, kept.id)).toMatchObject({ result: 'pending' });
  });

  it('charges each call once, whoever else recovers at the same time', async () => {
    const { open, pass, spend, recover, start } = await setUp();
    const dead = await open('dead');
    const living = await open('living');
    for (let i = 0; i < 5; i++)
      await dead.ledger.begin(start({ principal: limited, bound: 100 })).admitted;
    const open5 = living.ledger.begin(start({ principal: limited, bound: 500 }));
    await open5.admitted;
    dead.sleep();
    await pass(16_000);
    const results = await Promise.all([recover(), recover(), recover()]);
    expect(results.reduce((sum, { interrupted }) => sum + interrupted, 0)).toBe(5);
    expect(results.reduce((sum, { charged }) => sum + charged, 0)).toBe(500);
    expect(await spend()).toEqual({ settled: 500, reserved: 500 });
  });

  it('leaves the living and those that left in good order alone', async () => {
    const { store, open, pass, spend, recover, start } = await setUp();
    const living = await open('living');
    const leaving = await open('leaving');
    await living.ledger.begin(start({ principal: limited, bound: 100 })).admitted;
    await leaving.ledger.drain();
    await leaving.lease.release();
    await pass(60_000);
    expect(await recover()).toEqual(NOTHING);
    expect(await spend()).toEqual({ settled: 0, reserved: 100 });
    expect((await store.list({ prefix: ['roster'] })).map(({ key }) => key[1])).toEqual(['living']);
  });
});

describe('a worker that only slept', () => {
  it(
    verifies(
      'store.ledger.exactly-once',
      'puts what its calls cost in place of what others charged by estimate',
    ),
    async () => {
      const { store, open, pass, spend, recover, start } = await setUp();
      const sleeper = await open('sleeper');
      const request = start({ principal: limited, bound: 700 });
      const entry = sleeper.ledger.begin(request);
      await entry.admitted;
      sleeper.sleep();
      await pass(16_000);
      await recover();
      sleeper.wake();
      entry.settle(outcome({ cost: 300 }));
      await sleeper.ledger.drain();
      expect(await spend()).toEqual({ settled: 300, reserved: 0 });
      expect(await getRequest({ store }, request.id)).toMatchObject({
        result: 'ok',
        cost: '0.0000003',
      });
    },
  );

  it(
    verifies(
      'store.ledger.never-exceeds',
      'keeps to the estimate where the limit has no room for more, since others spent it meanwhile',
    ),
    async () => {
      const { store, open, pass, spend, recover, start } = await setUp();
      const sleeper = await open('sleeper');
      const other = await open('other');
      const request = start({ principal: limited, bound: 600 });
      const entry = sleeper.ledger.begin(request);
      await entry.admitted;
      entry.follow(() => ({ input: 1, output: 20, cost: 200 }));
      await pass(3_000);
      sleeper.sleep();
      await pass(16_000);
      expect(await recover()).toEqual({ interrupted: 1, charged: 200 });
      const later = other.ledger.begin(start({ principal: limited, bound: 700 }));
      await later.admitted;
      later.settle(outcome({ cost: 700 }));
      await other.ledger.drain();
      sleeper.wake();
      entry.settle(outcome({ cost: 400 }));
      await sleeper.ledger.drain();
      expect(await spend()).toEqual({ settled: 900, reserved: 0 });
      expect(await getRequest({ store }, request.id)).toMatchObject({
        result: 'ok',
        cost: '0.0000002',
        estimated: true,
      });
    },
  );

  it(
    verifies('store.ledger.exactly-once', 'does not count again what others folded in its stead'),
    async () => {
      const { clock, store, open, pass, spend, recover, start } = await setUp();
      const sleeper = await open('sleeper');
      const settle = async (cost: number) => {
        const entry = sleeper.ledger.begin(start());
        await entry.durable;
        entry.settle(outcome({ cost }));
        clock.advance(5);
        await turns();
      };
      await settle(40);
      expect(await store.list({ prefix: ['unfolded'] })).toHaveLength(2);
      // The lease ends while the worker's own timers stand still.
      await store.commit([{ type: 'delete', key: ['worker', 'sleeper'] }]);
      await recover();
      expect(await store.list({ prefix: ['unfolded'] })).toEqual([]);
      expect(await spend()).toEqual({ settled: 40, reserved: 0 });
      await settle(10);
      await pass(2_000);
      expect(clock.now()).toBeGreaterThan(0);
      expect(await spend()).toEqual({ settled: 50, reserved: 0 });
    },
  );

  it('is cleaned up after once more when it dies later', async () => {
    const { open, pass, spend, recover, start } = await setUp();
    const sleeper = await open('sleeper');
    sleeper.sleep();
    await pass(16_000);
    await recover();
    sleeper.wake();
    await pass(6_000);
    await sleeper.ledger.begin(start({ principal: limited, bound: 700 })).admitted;
    sleeper.sleep();
    await pass(16_000);
    expect(await recover()).toEqual({ interrupted: 1, charged: 700 });
    expect(await spend()).toEqual({ settled: 700, reserved: 0 });
  });
});

describe('a worker that wakes in the middle', () => {
  it(verifies('store.ledger.never-exceeds', 'keeps what it has reserved since'), async () => {
    const { store, open, pass, spend, start } = await setUp();
    const sleeper = await open('sleeper');
    await sleeper.ledger.begin(start({ principal: limited, bound: 100 })).admitted;
    sleeper.sleep();
    await pass(16_000);
    const list: typeof store.list = async (options) => {
      if (options.prefix[0] === 'flight') {
        sleeper.wake();
        await sleeper.ledger.begin(start({ principal: limited, bound: 700 })).admitted;
      }
      return store.list(options);
    };
    await recoverOpen({ store: { ...store, list } });
    expect((await spend()).reserved).toBeGreaterThanOrEqual(700);
    expect((await store.list({ prefix: ['roster'] })).map(({ key }) => key[1])).toEqual([
      'sleeper',
    ]);
  });

  it(
    verifies(
      'store.ledger.release-on-restart',
      'is cleaned up after once more although it dies before its next beat',
    ),
    async () => {
      const { open, pass, spend, recover, start } = await setUp();
      const sleeper = await open('sleeper');
      await sleeper.ledger.begin(start({ principal: limited, bound: 100 })).admitted;
      sleeper.sleep();
      await pass(16_000);
      await recover();
      await sleeper.ledger.begin(start({ principal: limited, bound: 700 })).admitted;
      await pass(16_000);
      expect(await recover()).toEqual({ interrupted: 1, charged: 700 });
      expect(await spend()).toEqual({ settled: 800, reserved: 0 });
    },
  );
});

describe('recovery in the background', () => {
  it('ends what a worker held at most 30 seconds after it died', async () => {
    const { clock, store, open, pass, spend, start } = await setUp();
    const reports: unknown[] = [];
    const stop = startRecovery({ store, clock, report: (result) => reports.push(result) });
    const dead = await open('dead');
    await dead.ledger.begin(start({ principal: limited, bound: 700 })).admitted;
    dead.sleep();
    await pass(30_000);
    expect(await spend()).toEqual({ settled: 700, reserved: 0 });
    expect(reports).toEqual([{ recovered: { interrupted: 1, charged: 700 } }]);
    stop();
  });

  it('goes on after a pass that failed', async () => {
    const { clock, store, pass } = await setUp();
    const results: string[] = [];
    let failures = 2;
    const list: typeof store.list = (options) =>
      failures-- > 0 ? Promise.reject(new Error('unavailable')) : store.list(options);
    const report = (result: object) => void results.push(Object.keys(result).join());
    const stop = startRecovery({ store: { ...store, list }, clock, report });
    await pass(30_000);
    expect(results).toEqual(['error', 'error']);
    stop();
    expect(failures).toBeLessThan(0);
  });
});

describe('a worker lease', () => {
  it('runs as long as it is renewed, and ends 15 seconds after the last beat', async () => {
    const { open, pass } = await setUp();
    const one = await open('one');
    const two = await open('two');
    await pass(60_000);
    expect([...(await two.lease.alive())].sort()).toEqual(['one', 'two']);
    one.sleep();
    await pass(10_000);
    expect((await two.lease.alive()).has('one')).toBe(true);
    await pass(6_000);
    expect([...(await two.lease.alive())]).toEqual(['two']);
  });

  it('is gone at once when it is released', async () => {
    const { open } = await setUp();
    const one = await open('one');
    const two = await open('two');
    await one.lease.release();
    expect([...(await two.lease.alive())]).toEqual(['two']);
  });
});
