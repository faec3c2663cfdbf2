import { describe, expect, it } from 'vitest';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { JobHandler, JobResult, JobRun, Jobs } from '../../src/jobs/jobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFaultyStore, turns } from '../usage/usage-fixtures.ts';

const MINUTE = 60_000;

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const reported: unknown[] = [];
  /** A process of its own: what its store does can be made to fail. */
  const open = (worker: string, handler: JobHandler, concurrency?: number) => {
    const faulty = createFaultyStore(store);
    const jobs = createJobs({
      store: faulty,
      clock,
      worker,
      report: (error) => void reported.push(error),
      ...(concurrency === undefined ? {} : { concurrency }),
    });
    jobs.start(new Map([['poll', handler]]));
    return { jobs, faulty };
  };
  const pass = async (ms: number, step = 1_000): Promise<void> => {
    await turns();
    for (let left = ms; left > 0; left -= step) {
      clock.advance(Math.min(step, left));
      await turns();
    }
  };
  return { clock, store, open, pass, reported };
}

/** A handler whose goes end when the test says so, or with their signal. */
function createStage() {
  const goes: { run: JobRun; end: (result: JobResult) => void }[] = [];
  const handler: JobHandler = (run) =>
    new Promise((resolve, reject) => {
      goes.push({ run, end: resolve });
      run.signal.addEventListener('abort', () => reject(new Error('called off')));
    });
  return { goes, handler };
}

const add = (jobs: Jobs, id: string, inMs = 0): Promise<boolean> =>
  jobs.add({ kind: 'poll', id, payload: { id } }, { inMs });

describe('jobs', () => {
  it('are done when they fall due, once', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    await add(jobs, 'later', 5_000);
    await add(jobs, 'now');
    expect(await add(jobs, 'now')).toBe(false);
    await pass(4_000);
    expect(goes.map(({ run }) => run.job)).toEqual([
      { kind: 'poll', id: 'now', payload: { id: 'now' } },
    ]);
    goes[0]?.end('done');
    await pass(1_000);
    expect(goes.map(({ run }) => run.job.id)).toEqual(['now', 'later']);
    goes[1]?.end('done');
    await pass(5 * MINUTE, MINUTE);
    expect(goes).toHaveLength(2);
    expect(await add(jobs, 'now')).toBe(true);
  });

  it('come again when they ask for it, with what they want to know then', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    await add(jobs, 'one');
    await pass(0);
    goes[0]?.end({ againInMs: 2_000, payload: { seen: 1 } });
    await pass(1_000);
    expect(goes).toHaveLength(1);
    await pass(1_000);
    goes[1]?.end({ againInMs: 1_000 });
    await pass(1_000);
    expect(goes.map(({ run }) => [run.attempt, run.job.payload])).toEqual([
      [1, { id: 'one' }],
      [2, { seen: 1 }],
      [3, { seen: 1 }],
    ]);
  });

  it('wait longer after every exception, five minutes at most', async () => {
    const { clock, open, pass, reported } = setUp();
    const at: number[] = [];
    const start = clock.now();
    const { jobs } = open('a', async () => {
      at.push(clock.now() - start);
      throw new Error('no');
    });
    await add(jobs, 'one');
    await pass(20 * MINUTE);
    const gaps = at.map((one, index) => (one - (at[index - 1] ?? 0)) / 1_000);
    expect(gaps.slice(0, 12)).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect(reported).toHaveLength(at.length);
  });

  it('are done once by two processes on one store', async () => {
    const { open, pass, store } = setUp();
    const begun = new Map<string, number>();
    const atOnce = { now: 0, most: 0 };
    const handler: JobHandler = async ({ job }) => {
      begun.set(job.id, (begun.get(job.id) ?? 0) + 1);
      atOnce.most = Math.max(atOnce.most, ++atOnce.now);
      await turns(2);
      atOnce.now--;
      return 'done';
    };
    const { jobs } = open('a', handler, 4);
    open('b', handler, 4);
    await Promise.all(Array.from({ length: 200 }, (_, index) => add(jobs, `job-${index}`)));
    await pass(30_000);
    expect(begun.size).toBe(200);
    expect(new Set(begun.values())).toEqual(new Set([1]));
    expect(atOnce.most).toBeLessThanOrEqual(8);
    expect(await store.list({ prefix: ['job'] })).toEqual([]);
    expect(await store.list({ prefix: ['job-due'] })).toEqual([]);
  });

  it('stay with the process that is at work, however long it takes', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    open('b', handler);
    await add(jobs, 'one');
    await pass(10 * MINUTE, 5_000);
    expect(goes).toHaveLength(1);
    goes[0]?.end('done');
    await pass(MINUTE, 5_000);
    expect(goes).toHaveLength(1);
  });

  it('are called off before others take them when the lease cannot be renewed', async () => {
    const { clock, open, pass } = setUp();
    const first = createStage();
    const second = createStage();
    const { jobs, faulty } = open('a', first.handler);
    await add(jobs, 'one');
    await pass(1_000);
    open('b', second.handler);
    faulty.fail('before');
    let calledOffAt = Infinity;
    first.goes[0]?.run.signal.addEventListener('abort', () => (calledOffAt = clock.now()));
    const start = clock.now();
    await pass(28_000);
    expect(calledOffAt - start).toBeLessThanOrEqual(25_000);
    expect(second.goes).toHaveLength(0);
    await pass(1_000);
    expect(second.goes.map(({ run }) => run.attempt)).toEqual([2]);
    second.goes[0]?.end('done');
    faulty.fail(undefined);
    await pass(2 * MINUTE, 5_000);
    expect([first.goes.length, second.goes.length]).toEqual([1, 1]);
  });

  it('survive a store that takes what it said it did not', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs, faulty } = open('a', handler);
    await add(jobs, 'one');
    await pass(9_000);
    faulty.fail('after');
    await pass(12_000);
    faulty.fail(undefined);
    await pass(MINUTE);
    expect(goes).toHaveLength(1);
    expect(goes[0]?.run.signal.aborted).toBe(false);
    goes[0]?.end('done');
    await pass(2 * MINUTE, 5_000);
    expect(goes).toHaveLength(1);
  });

  it('are finished by a process that stops, and those that wait for somebody left to others', async () => {
    const { open, pass } = setUp();
    const [here, there] = [createStage(), createStage()];
    const { jobs } = open('a', here.handler);
    await add(jobs, 'busy');
    await add(jobs, 'waits');
    await pass(0);
    here.goes.find(({ run }) => run.job.id === 'waits')?.run.pause?.(true);
    open('b', there.handler);
    const drained = jobs.drain(MINUTE);
    await add(jobs, 'new');
    await pass(1_000);
    expect(there.goes.map(({ run }) => run.job.id).toSorted()).toEqual(['new', 'waits']);
    const [busy] = here.goes.filter(({ run }) => run.job.id === 'busy');
    expect(busy?.run.signal.aborted).toBe(false);
    busy?.end('done');
    await drained;
    await pass(MINUTE, 10_000);
    expect(there.goes.map(({ run }) => run.job.id).toSorted()).toEqual(['new', 'waits']);
  });

  it('that take longer than a process has to stop go on elsewhere', async () => {
    const { open, pass } = setUp();
    const [here, there] = [createStage(), createStage()];
    const { jobs } = open('a', here.handler);
    await add(jobs, 'slow');
    await pass(0);
    open('b', there.handler);
    const drained = jobs.drain(5_000);
    await pass(5_000);
    await drained;
    expect(there.goes).toHaveLength(0);
    await jobs.close();
    await pass(1_000);
    expect(there.goes.map(({ run }) => [run.job.id, run.failures])).toEqual([['slow', 0]]);
  });

  it('are left off when the process stops, and go on elsewhere at once', async () => {
    const { open, pass } = setUp();
    const first = createStage();
    const second = createStage();
    const { jobs } = open('a', first.handler);
    await add(jobs, 'one');
    await pass(1_000);
    open('b', second.handler);
    await pass(1_000);
    await jobs.close();
    expect(first.goes[0]?.run.signal.aborted).toBe(true);
    await pass(0);
    expect(second.goes).toHaveLength(1);
    await add(jobs, 'two');
    await pass(1_000);
    expect(first.goes).toHaveLength(1);
    expect(second.goes).toHaveLength(2);
  });

  it('do not keep a process from stopping when they do not listen', async () => {
    const { clock, open, pass } = setUp();
    const { jobs } = open('a', () => new Promise(() => undefined));
    await add(jobs, 'deaf');
    await pass(0);
    const closed = jobs.close();
    clock.advance(10_000);
    await closed;
  });

  it('are given up by whoever removes one that changes each time', async () => {
    const { clock, store, open } = setUp();
    await add(open('w1', createStage().handler).jobs, 'one', MINUTE);
    let tries = 0;
    const commit: typeof store.commit = async ([op]) => {
      tries++;
      return { ok: false, conflict: op?.key ?? [] };
    };
    await createJobs({ store: { ...store, commit }, clock, worker: 'w2' }).remove('poll', 'one');
    expect(tries).toBe(20);
  });

  it('are left off when they are removed', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    await add(jobs, 'one');
    await add(jobs, 'two', MINUTE);
    await pass(1_000);
    await jobs.remove('poll', 'one');
    await jobs.remove('poll', 'two');
    await jobs.remove('poll', 'never');
    await pass(10_000);
    expect(goes[0]?.run.signal.aborted).toBe(true);
    await pass(2 * MINUTE, 5_000);
    expect(goes).toHaveLength(1);
  });

  it('that wait in thousands are not looked through', async () => {
    const { open, pass, store } = setUp();
    const done: string[] = [];
    const waiting = createJobs({ store, clock: createFakeClock(), worker: 'x' });
    for (let i = 0; i < 5_000; i += 250) {
      const ops = Array.from({ length: 250 }, (_, n) =>
        waiting.toAdd({ kind: 'poll', id: `w${i + n}`, payload: null }, { inMs: 60 * MINUTE }),
      );
      await store.commit(ops.flat());
    }
    const read: number[] = [];
    const { list } = store;
    store.list = async (options) => {
      const page = await list(options);
      read.push(page.length);
      return page as never;
    };
    const { jobs } = open('a', async ({ job }) => {
      done.push(job.id);
      return 'done';
    });
    await add(jobs, 'now');
    await pass(MINUTE);
    expect(done).toEqual(['now']);
    expect(Math.max(...read)).toBeLessThanOrEqual(64);
    expect(read.length).toBeLessThan(20);
  });

  it('of one kind do not hold up another', async () => {
    const { clock, store, pass } = setUp();
    const slow = createStage();
    const quick: string[] = [];
    const jobs = createJobs({ store, clock, worker: 'a', concurrency: 2 });
    jobs.start(
      new Map<string, JobHandler>([
        ['turn', slow.handler],
        ['poll', async ({ job }) => (quick.push(job.id), 'done')],
      ]),
    );
    for (const id of ['1', '2', '3']) await jobs.add({ kind: 'turn', id, payload: null });
    await add(jobs, 'poll');
    await pass(1_000);
    expect(slow.goes).toHaveLength(2);
    expect(quick).toEqual(['poll']);
    slow.goes[0]?.end('done');
    await pass(0);
    expect(slow.goes).toHaveLength(3);
  });

  it('end only while what they looked at is unchanged, and else come again at once', async () => {
    const { open, pass, store } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    const key = ['work'];
    const seen = await store.commit([{ type: 'put', key, value: 1 }]);
    const ifVersion = seen.ok ? seen.version : '';
    await add(jobs, 'one');
    await pass(0);
    await store.commit([{ type: 'put', key, value: 2 }]);
    goes[0]?.end({ doneIf: [{ type: 'check', key, ifVersion }] });
    await pass(0);
    expect(goes).toHaveLength(2);
    const now = (await store.get(key))?.version ?? '';
    goes[1]?.end({ doneIf: [{ type: 'check', key, ifVersion: now }] });
    await pass(MINUTE);
    expect(goes).toHaveLength(2);
    expect(await add(jobs, 'one')).toBe(true);
  });

  it('are woken together with what they are for', async () => {
    const { open, pass, store } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    const job = { kind: 'poll', id: 'one', payload: null };
    const wake = async () => (await store.commit(await jobs.toWake(job))).ok;
    expect(await wake()).toBe(true);
    await pass(0);
    expect(goes).toHaveLength(1);
    goes[0]?.end({ againInMs: MINUTE });
    await pass(0);
    expect(await wake()).toBe(true);
    await pass(0);
    expect(goes).toHaveLength(2);
  });

  it('cannot end unnoticed between a wake and its commit', async () => {
    const { open, pass, store } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler);
    const job = { kind: 'poll', id: 'one', payload: null };
    await store.commit(await jobs.toWake(job));
    await pass(0);
    const ops = await jobs.toWake(job);
    goes[0]?.end('done');
    await pass(0);
    expect((await store.commit(ops)).ok).toBe(false);
    expect((await store.commit(await jobs.toWake(job))).ok).toBe(true);
    await pass(0);
    expect(goes).toHaveLength(2);
  });

  it('know how often in a row they failed', async () => {
    const { open, pass } = setUp();
    const failures: number[] = [];
    const { jobs } = open('a', async (run) => {
      failures.push(run.failures);
      if (run.attempt === 3) return { againInMs: 1_000 };
      throw new Error('no');
    });
    await add(jobs, 'one');
    await pass(9_000);
    expect(failures.slice(0, 5)).toEqual([0, 1, 2, 0, 1]);
  });

  it('have as much room as their kind is given', async () => {
    const { clock, store, pass } = setUp();
    const stage = createStage();
    const jobs = createJobs({
      store,
      clock,
      worker: 'a',
      concurrency: 1,
      rooms: new Map([['turn', 3]]),
    });
    jobs.start(new Map([['turn', stage.handler]]));
    for (const id of ['1', '2', '3', '4']) await jobs.add({ kind: 'turn', id, payload: null });
    await pass(1_000);
    expect(stage.goes).toHaveLength(3);
  });

  it(
    verifies(
      'queues.fairness',
      'of one organization that are due by hundreds let the first of another one go next',
    ),
    async () => {
      const { open, pass } = setUp();
      const { goes, handler } = createStage();
      const { jobs } = open('a', handler, 16);
      for (let index = 0; index < 300; index++)
        await jobs.add({ kind: 'poll', id: `a${index}`, payload: null, holder: 'org_a' });
      await pass(1_000);
      // The last eighth of the room is nobody's who has the rest.
      expect(goes).toHaveLength(14);
      expect(jobs.waiting().get('poll')).toBeGreaterThan(0);
      for (const id of ['b1', 'b2', 'b3'])
        await jobs.add({ kind: 'poll', id, payload: null, holder: 'org_b' });
      await pass(1_000);
      expect(goes.slice(14).map(({ run }) => run.job.id)).toEqual(['b1', 'b2']);
      await jobs.add({ kind: 'poll', id: 'c1', payload: null, holder: 'org_c' });
      goes[0]?.end('done');
      await pass(1_000);
      expect(goes.slice(16).map(({ run }) => run.job.id)).toEqual(['c1']);
      goes[1]?.end('done');
      await pass(1_000);
      expect(goes.slice(17).map(({ run }) => run.job.id)).toEqual(['b3']);
      for (let index = 0; index < 310; index++) {
        goes[index]?.end('done');
        await pass(0);
      }
      await pass(2_000);
      expect(new Set(goes.map(({ run }) => run.job.id)).size).toBe(304);
      expect(jobs.waiting().get('poll')).toBe(0);
    },
  );

  it('of many organizations all get their turn, however many jobs one of them has', async () => {
    const { open, pass } = setUp();
    const done: string[] = [];
    const waiting = open('a', async ({ job }) => (done.push(job.id), 'done'), 1);
    for (let index = 0; index < 100; index++)
      await waiting.jobs.add({ kind: 'poll', id: `a${index}`, payload: null, holder: 'org_a' });
    for (let index = 0; index < 150; index++)
      await waiting.jobs.add({ kind: 'poll', id: `b${index}`, payload: null, holder: `o${index}` });
    await pass(60_000);
    expect(new Set(done).size).toBe(250);
  });

  it('whose place by holder was left behind by an older release are found as before', async () => {
    const { open, pass, store } = setUp();
    const done: string[] = [];
    for (let index = 0; index < 70; index++) {
      const left = ['job-held', 'poll', 'org_a', index, `gone${index}`];
      await store.commit([{ type: 'put', key: left, value: null }]);
    }
    const { jobs } = open('a', async ({ job }) => (done.push(job.id), 'done'), 8);
    for (let index = 0; index < 80; index++)
      await jobs.add({ kind: 'poll', id: `j${index}`, payload: null, holder: 'org_a' });
    await pass(60_000);
    expect(new Set(done).size).toBe(80);
  });

  it('that only wait for somebody give their room to others, once', async () => {
    const { open, pass } = setUp();
    const { goes, handler } = createStage();
    const { jobs } = open('a', handler, 2);
    for (const id of ['1', '2', '3', '4', '5', '6']) await add(jobs, id);
    await pass(1_000);
    expect(goes).toHaveLength(2);
    goes[0]?.run.pause?.(true);
    await pass(1_000);
    expect(goes).toHaveLength(3);
    for (const { run } of goes) run.pause?.(true);
    await pass(1_000);
    // Three wait, two of them in the place of others.
    expect(goes).toHaveLength(4);
    goes[0]?.run.pause?.(false);
    goes[1]?.end('done');
    await pass(1_000);
    expect(goes).toHaveLength(4);
    for (const { end } of goes) end('done');
    await pass(1_000);
    expect(goes).toHaveLength(6);
  });

  it('go on when the store is back', async () => {
    const { clock, pass } = setUp();
    const store = createFaultyStore(openMemoryStore(clock));
    const { goes, handler } = createStage();
    const jobs = createJobs({ store, clock, worker: 'a' });
    await add(jobs, 'one');
    store.fail('before');
    jobs.start(new Map([['poll', handler]]));
    await pass(5_000);
    expect(goes).toHaveLength(0);
    store.fail(undefined);
    await pass(1_000);
    expect(goes).toHaveLength(1);
  });
});
