import { describe, expect, it } from 'vitest';
import { fromNanos } from '../../../src/core/money.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { handOver } from '../../../src/usage/recovery/hand-over.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFaultyStore, createStarts, outcome, principal, turns } from '../usage-fixtures.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const ORGANIZATION = { kind: 'organization', id: 'org_1' } as const;
const LIMIT = 1_000;
const limited = principal({ keySpend: { lifetime: LIMIT } });
const MODES = ['auto', 'before_call', 'during_call'] as const;

async function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const commits = createFaultyStore(store);
  const lease = createWorkerLease({ store, clock, worker: 'one' });
  await lease.start();
  const ledger = createLedger({ store: commits, clock, worker: 'one' });
  const start = createStarts(clock);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await turns(2);
    }
  };
  return {
    clock,
    store,
    ledger,
    lease,
    commits,
    start,
    pass,
    /** Begins a call that is on its way when this resolves. */
    async begin(request: RequestStart) {
      const entry = ledger.begin(request);
      await (entry.admitted ?? entry.durable);
      return entry;
    },
    /** As if the process had been killed and its lease had run out. */
    async die() {
      commits.fail('before');
      await store.commit([{ type: 'delete', key: ['worker', 'one'] }]);
      return recoverOpen({ store });
    },
    spend: async (scope: Parameters<typeof readSpend>[1] = KEY) =>
      (await readSpend({ store }, scope, clock.now())).lifetime,
  };
}

const COST_OF_PROMPT = { input: 20, output: 0, cost: 60 };

describe('a call under a limit whose process died', () => {
  it(
    verifies(
      'store.ledger.interrupted-charged',
      'costs what is known to have been sent, else its bound, and is marked as estimated',
    ),
    async () => {
      const { store, begin, die, pass, start, spend } = await setUp();
      const asked = { principal: limited, bound: 300, estimate: COST_OF_PROMPT };
      const [unknown, known, dear] = [start(asked), start(asked), start(asked)];
      await begin(unknown);
      const sent = { input: 20, output: 10, cost: 90 };
      (await begin(known)).follow(() => sent);
      (await begin(dear)).follow(() => ({ ...sent, cost: 400 }));
      await pass(3_000);
      expect(await die()).toEqual({ interrupted: 3, charged: 300 + 90 + 300 });
      expect(await getRequest({ store }, unknown.id)).toMatchObject({
        result: 'interrupted',
        error_code: 'worker_lost',
        usage: { input_tokens: 20, output_tokens: 0 },
        cost: fromNanos(300),
        estimated: true,
      });
      expect(await getRequest({ store }, known.id)).toMatchObject({
        usage: { input_tokens: 20, output_tokens: 10 },
        cost: fromNanos(90),
        estimated: true,
      });
      expect(await getRequest({ store }, dear.id)).toMatchObject({ cost: fromNanos(300) });
      expect(await spend()).toEqual({ settled: 690, reserved: 0 });
      expect(await spend(ORGANIZATION)).toEqual({ settled: 690, reserved: 0 });
    },
  );

  it('costs nothing when it failed before, as the client was told', async () => {
    const { begin, die, start, spend } = await setUp();
    const entry = await begin(start({ principal: limited, bound: 300 }));
    entry.settle(outcome({ status: 503, result: 'error', cost: 0 }));
    await entry.settled;
    expect(await die()).toEqual({ interrupted: 0, charged: 0 });
    expect(await spend()).toEqual({ settled: 0, reserved: 0 });
  });
});

describe('a call without a limit whose process died', () => {
  it(
    verifies(
      'store.ledger.open-call-estimated',
      'costs the estimate of its prompt and of the output that is known to have been sent',
    ),
    async () => {
      const { store, begin, die, pass, start, spend } = await setUp();
      const [whole, stream] = [start(), start()].map((one) => ({
        ...one,
        bound: 5_000,
        estimate: COST_OF_PROMPT,
      }));
      await begin(whole!);
      let output = 0;
      (await begin(stream!)).follow(() => ({ input: 20, output, cost: 60 + output * 5 }));
      output = 40;
      await pass(3_000);
      output = 80;
      await pass(3_000);
      // Not known to anybody else any more.
      output = 90;
      expect(await die()).toEqual({ interrupted: 2, charged: 60 + 460 });
      expect(await getRequest({ store }, whole!.id)).toMatchObject({
        result: 'interrupted',
        usage: { input_tokens: 20, output_tokens: 0 },
        cost: fromNanos(60),
        estimated: true,
      });
      expect(await getRequest({ store }, stream!.id)).toMatchObject({
        usage: { input_tokens: 20, output_tokens: 80 },
        cost: fromNanos(460),
        estimated: true,
      });
      expect(await spend()).toEqual({ settled: 520, reserved: 0 });
      expect(await spend(ORGANIZATION)).toEqual({ settled: 520, reserved: 0 });
      for (const room of ['flight', 'open', 'sent', 'roster'])
        expect(await store.list({ prefix: [room] })).toEqual([]);
    },
  );

  it('leaves no notes of streams that have ended, and needs no commit of their own under load', async () => {
    const { store, ledger, begin, commits, pass, start } = await setUp();
    const entry = await begin(start());
    entry.follow(() => ({ input: 20, output: 1, cost: 5 }));
    await pass(3_000);
    expect(await store.list({ prefix: ['sent'] })).toHaveLength(1);
    commits.takeCommits();
    const other = await begin(start());
    other.settle(outcome({ cost: 5 }));
    await pass(3_000);
    // Begin, end and fold of the other call; the note goes with the fold or in one more.
    expect(commits.takeCommits().length).toBeLessThanOrEqual(4);
    entry.settle(outcome());
    await ledger.drain();
    expect(await store.list({ prefix: ['sent'] })).toEqual([]);
  });
});

describe('the sums behind a recovery', () => {
  it(
    verifies(
      'usage.interrupted-counted',
      'hold interrupted calls with the number and cost of the records, whoever recovered them',
    ),
    async () => {
      const { store, begin, commits, start } = await setUp();
      const requests = Array.from({ length: 230 }, (_, index) =>
        start({
          estimate: COST_OF_PROMPT,
          principal: index % 2 === 0 ? limited : principal({ keyId: 'key_2' }),
          bound: 2,
          model: index % 3 === 0 ? 'acme/one' : 'acme/two',
        }),
      );
      const entries = await Promise.all(requests.map(begin));
      entries[0]!.settle(outcome({ cost: 2 }));
      await entries[0]!.settled;
      commits.fail('before');
      await store.commit([{ type: 'delete', key: ['worker', 'one'] }]);
      const recover = () => recoverOpen({ store });
      const results = await Promise.all([recover(), recover(), recover()]);
      expect(results.reduce((sum, { interrupted }) => sum + interrupted, 0)).toBe(229);
      const { data } = await listRequests({ store }, { limit: 1_000 });
      const rows = await usageReport({ store }, { groupBy: ['key', 'model'] });
      expect(rows).toHaveLength(4);
      for (const { key, model, requests: count, cost, errors, estimated, usage } of rows) {
        const own = data.filter((record) => record.key.id === key && record.model === model);
        const lost = own.filter(({ result }) => result === 'interrupted');
        expect({ count, errors, estimated }).toEqual({
          count: own.length,
          errors: lost.length,
          estimated: lost.length,
        });
        const sum = own.reduce((total, record) => total + Number(record.cost), 0);
        expect(Number(cost)).toBeCloseTo(sum, 12);
        expect(usage.input_tokens).toBe(
          own.reduce((total, record) => total + record.usage.input_tokens, 0),
        );
      }
    },
  );

  it(
    verifies(
      'store.ledger.exactly-once',
      'hold what a call cost once, when its worker only slept and ends it after all',
    ),
    async () => {
      const { store, ledger, begin, commits, die, start, spend } = await setUp();
      const free = start({ estimate: COST_OF_PROMPT });
      const paid = start({ principal: limited, bound: 500 });
      const [one, two] = [await begin(free), await begin(paid)];
      expect(await die()).toEqual({ interrupted: 2, charged: 560 });
      commits.fail(undefined);
      one.settle(outcome({ cost: 25 }));
      two.settle(outcome({ cost: 100 }));
      await ledger.drain();
      expect(await spend()).toEqual({ settled: 125, reserved: 0 });
      expect(await spend(ORGANIZATION)).toEqual({ settled: 125, reserved: 0 });
      const [report] = await usageReport({ store }, {});
      expect(report).toMatchObject({ requests: 2, errors: 0, estimated: 0, cost: fromNanos(125) });
      expect(report?.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    },
  );

  it.each(['before', 'after'] as const)(
    'are complete although the process that recovers dies %s its n-th commit, for every n',
    async (when) => {
      for (let count = 1; ; count++) {
        const { store, begin, commits, start, spend } = await setUp();
        await begin(start({ principal: limited, bound: 400 }));
        await begin(start({ estimate: COST_OF_PROMPT }));
        (await begin(start())).settle(outcome({ cost: 7 }));
        await turns();
        commits.fail('before');
        await store.commit([{ type: 'delete', key: ['worker', 'one'] }]);
        const dying = createFaultyStore(store);
        let left = count;
        dying.interfere = () => void (--left === 0 && dying.fail(when));
        const died = await recoverOpen({ store: dying }).then(
          () => false,
          () => true,
        );
        await recoverOpen({ store });
        expect((await spend()).reserved).toBe(0);
        const [report] = await usageReport({ store }, {});
        expect(Number(report?.cost)).toBeCloseTo((await spend()).settled / 1e9, 12);
        const { data } = await listRequests({ store }, { status: 'interrupted' });
        expect(data.length).toBeGreaterThanOrEqual(2);
        if (!died) return;
      }
    },
  );
});

describe('a call that left a task behind', () => {
  const TASK = 'video_1';

  it('costs nothing itself, and what it had reserved is kept for the task', async () => {
    const { store, begin, die, clock, start, spend } = await setUp();
    const call = start({ principal: limited, bound: 300, estimate: COST_OF_PROMPT });
    await begin(call);
    await store.commit([handOver(call.id, TASK)]);
    expect(await die()).toEqual({ interrupted: 1, charged: 0 });
    expect(await spend()).toEqual({ settled: 0, reserved: 300 });
    expect(await getRequest({ store }, call.id)).toMatchObject({ cost: '0.00', estimated: false });
    const charge = {
      id: TASK,
      principal: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
      at: clock.now(),
      surface: 'videos',
      model: 'acme/film',
      outcome: outcome({ cost: 200 }),
    };
    await createCharges({ store }).charge(charge);
    expect(await spend()).toEqual({ settled: 200, reserved: 0 });
  });

  it.each(['held', 'released'] as const)(
    'gives back its own reservation when the task is %s already',
    async (state) => {
      const { store, begin, die, clock, start, spend } = await setUp();
      const charges = createCharges({ store });
      const call = start({ principal: limited, bound: 300 });
      await begin(call);
      await store.commit([handOver(call.id, TASK)]);
      await charges.hold({ id: TASK, principal: limited, at: clock.now(), bound: 300 });
      if (state === 'released') await charges.release(TASK);
      await die();
      expect(await spend()).toEqual({ settled: 0, reserved: state === 'held' ? 300 : 0 });
    },
  );
});

describe('an answer that waits for its settlement', () => {
  it.each(MODES)(
    verifies(
      'store.ledger.durable-before-last-byte',
      'has been charged whenever its end went out, at whichever commit the process dies (%s)',
    ),
    async (mode) => {
      for (let count = 1; ; count++) {
        const { clock, store, commits, start, spend } = await setUp();
        const ledger = createLedger({ store: commits, clock, worker: 'one', mode });
        let left = count;
        commits.interfere = () => void (--left === 0 && commits.fail('before'));
        let paid = 0;
        let failures = 0;
        for (let call = 0; call < 4; call++) {
          try {
            const entry = ledger.begin(start({ principal: limited, bound: 200 }));
            await entry.admitted;
            entry.settle(outcome({ cost: 150 }));
            await entry.settled;
            paid += 150;
          } catch {
            failures++;
          }
        }
        await store.commit([{ type: 'delete', key: ['worker', 'one'] }]);
        await recoverOpen({ store });
        const { settled, reserved } = await spend();
        expect(reserved).toBe(0);
        expect(settled).toBeGreaterThanOrEqual(paid);
        expect(settled).toBeLessThanOrEqual(LIMIT);
        if (failures === 0 && paid === 600 && settled === 600) return;
      }
    },
  );

  it('does not wait for a store that is away: the reservation stands for the charge', async () => {
    const { begin, commits, die, start, spend } = await setUp();
    const entry = await begin(start({ principal: limited, bound: 200 }));
    commits.fail('before');
    entry.settle(outcome({ cost: 150 }));
    await entry.settled;
    await die();
    expect(await spend()).toEqual({ settled: 200, reserved: 0 });
  });

  it('waits for nothing without a limit', async () => {
    const { begin, start } = await setUp();
    expect((await begin(start())).settled).toBeUndefined();
  });
});
