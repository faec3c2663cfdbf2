import { register } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobHandler, JobResult, JobRun } from '../../../src/jobs/jobs.ts';
import { openRetention } from '../../../src/server/compose/open-retention.ts';
import type { RetentionOptions } from '../../../src/server/compose/open-retention.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { listRequests } from '../../../src/usage/requests/request-log.ts';
import { DIGESTED } from '../../../src/usage/sums/day-digests.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { createStarts, DAY, outcome } from '../../usage/usage-fixtures.ts';

const HOUR = 3_600_000;
const NONE = { events: null, records: null, runs: null, audit: null };
const METRIC = 'gateway_removed_total';

describe('what is removed by its age', () => {
  let clock: FakeClock;
  let store: Store;
  let added: { job: Job; options: unknown }[];
  let lines: { message: string; fields: unknown }[];
  beforeEach(() => {
    clock = createFakeClock(Date.parse('2026-11-21T00:00:00Z'));
    store = openMemoryStore(clock);
    [added, lines] = [[], []];
    register.removeSingleMetric(METRIC);
  });
  afterEach(() => register.removeSingleMetric(METRIC));

  function open(retention: object = {}, metrics: unknown = null) {
    const options = {
      clock,
      store,
      config: { retention: { ...NONE, ...retention }, metrics: { listen: metrics } },
      log: { info: (message: string, fields: unknown) => void lines.push({ message, fields }) },
      repository: { find: async () => undefined },
      jobs: {
        async add(job: Job, settings: unknown) {
          added.push({ job, options: settings });
          return added.length > 1;
        },
      },
    };
    return openRetention(options as unknown as RetentionOptions);
  }
  const run = async (
    handler: JobHandler | undefined,
    payload: unknown = null,
  ): Promise<JobResult> => {
    if (!handler) throw new Error('no handler');
    return handler({ job: { kind: 'k', id: 'k', payload } } as unknown as JobRun);
  };
  async function record(): Promise<void> {
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const entry = ledger.begin(createStarts(clock)());
    await entry.durable;
    entry.settle(outcome());
    await ledger.drain();
  }
  const records = async (): Promise<number> => (await listRequests({ store })).data.length;

  it('is nothing without an age, and sums of use are folded all the same', async () => {
    const handlers = await open();
    expect([...handlers.keys()]).toEqual(['usage-fold']);
    expect(added).toEqual([
      { job: { kind: 'usage-fold', id: 'usage-fold', payload: null }, options: { inMs: 60_000 } },
    ]);
  });

  it.each(['events', 'records', 'runs', 'audit'])('is what has one: %s', async (kind) => {
    const own = `retention-${kind}`;
    const handlers = await open({ [kind]: DAY });
    expect([...handlers.keys()]).toEqual([own, 'usage-fold']);
    expect(added[0]).toEqual({
      job: { kind: own, id: own, payload: null },
      options: { inMs: 60_000 },
    });
    expect(await run(handlers.get(own))).toHaveProperty('againInMs');
    expect(lines).toEqual([]);
  });

  it('may be old at once', async () => {
    expect([...(await open({ records: 0 })).keys()]).toContain('retention-records');
  });

  it('is older than that, is told, and is counted where there are metrics', async () => {
    const handlers = await open({ records: DAY }, { host: '127.0.0.1', port: 0 });
    await record();
    clock.advance(DAY);
    await record();
    expect(await run(handlers.get('retention-records'))).toMatchObject({ againInMs: HOUR });
    expect(await records()).toBe(2);
    clock.advance(1_000);
    await run(handlers.get('retention-records'));
    expect(await records()).toBe(1);
    expect(lines).toEqual([
      { message: 'removed by retention', fields: { kind: 'records', removed: 1 } },
    ]);
    const counted = await register.getSingleMetric(METRIC)?.get();
    expect(counted?.values).toMatchObject([{ labels: { kind: 'records' }, value: 1 }]);
  });

  it('is counted nowhere without metrics', async () => {
    await open({ records: DAY });
    expect(register.getSingleMetric(METRIC)).toBeUndefined();
  });

  it('leaves the sums of a day open until an hour after it', async () => {
    const fold = (await open()).get('usage-fold');
    const digested = async () => (await store.get<string>(DIGESTED))?.value;
    await record();
    clock.advance(DAY + HOUR - 1);
    await run(fold);
    expect(await digested()).toBe('2026-11-21');
    clock.advance(1);
    await run(fold);
    expect(await digested()).toBe('2026-11-22');
  });
});
