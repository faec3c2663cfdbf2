import { describe, expect, it } from 'vitest';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { JobHandler, JobResult, JobRun } from '../../src/jobs/jobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFaultyStore, turns } from '../usage/usage-fixtures.ts';

const JOB = { kind: 'turn', id: 'one', payload: null };
const LEASE_MS = 30_000;

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const open = (worker: string, concurrency = 2) => {
    const goes: { run: JobRun; end: (result: JobResult) => void }[] = [];
    const handler: JobHandler = (run) =>
      new Promise((resolve, reject) => {
        goes.push({ run, end: resolve });
        run.signal.addEventListener('abort', () => reject(new Error('called off')));
      });
    const faulty = createFaultyStore(store);
    const reported: unknown[] = [];
    const report = (error: unknown) => void reported.push(error);
    const jobs = createJobs({ store: faulty, clock, worker, concurrency, report });
    return { goes, jobs, faulty, reported, start: () => jobs.start(new Map([['turn', handler]])) };
  };
  const pass = async (ms: number): Promise<void> => {
    await turns();
    for (let left = ms; left > 0; left -= 1_000) {
      clock.advance(1_000);
      await turns();
    }
  };
  const rows = () => store.list<{ owner: string | null }>({ prefix: ['job'] });
  return { clock, store, open, pass, rows };
}

describe('a job that begins with the commit that calls for it', () => {
  it('is claimed by that commit, and runs once it is settled', async () => {
    const { open, pass, rows, store } = setUp();
    const { goes, jobs, start } = open('a');
    start();
    const { ops, settle } = await jobs.toStart(JOB);
    expect(goes).toEqual([]);
    expect((await store.commit([...ops])).ok).toBe(true);
    expect((await rows())[0]?.value.owner).toMatch(/^a-/);
    settle();
    // Whoever called for it goes first.
    for (let one = 0; one < 100; one++) await Promise.resolve();
    expect(goes).toEqual([]);
    await pass(0);
    expect(goes.map(({ run }) => [run.job.id, run.attempt, run.failures])).toEqual([['one', 1, 0]]);
    goes[0]?.end('done');
    await pass(0);
    expect(await rows()).toEqual([]);
  });

  it('is left to whoever takes jobs, where this process takes none or has no room', async () => {
    const { open, pass, store } = setUp();
    const idle = open('a');
    const busy = open('b', 1);
    busy.start();
    await busy.jobs.add({ ...JOB, id: 'other' });
    await pass(0);
    for (const [index, { jobs }] of [idle, busy].entries()) {
      const { ops, settle } = await jobs.toStart({ ...JOB, id: `left ${index}` });
      expect((await store.commit([...ops])).ok).toBe(true);
      settle();
    }
    await pass(2_000);
    expect(busy.goes).toHaveLength(1);
    const other = open('c', 4);
    other.start();
    await pass(2_000);
    expect(other.goes.map(({ run }) => run.job.id)).toEqual(['left 0', 'left 1']);
  });

  it('gives its place back when the commit is refused', async () => {
    const { open, pass, store, rows } = setUp();
    const { goes, jobs, start } = open('a', 1);
    start();
    const refused = await jobs.toStart(JOB);
    await store.commit([{ type: 'put', key: ['wanted'], value: 1 }]);
    const never = { type: 'check', key: ['wanted'], ifAbsent: true } as const;
    expect((await store.commit([...refused.ops, never])).ok).toBe(false);
    refused.settle();
    await pass(0);
    expect(await rows()).toEqual([]);
    const { ops, settle } = await jobs.toStart(JOB);
    await store.commit([...ops]);
    settle();
    await pass(0);
    expect(goes).toHaveLength(1);
  });

  it('is taken over when its process dies before it runs', async () => {
    const { open, pass, store } = setUp();
    const dead = open('a');
    dead.start();
    await store.commit([...(await dead.jobs.toStart(JOB)).ops]);
    // Nothing is settled any more.
    const heir = open('b');
    heir.start();
    await pass(LEASE_MS - 1_000);
    expect(heir.goes).toEqual([]);
    await pass(5_000);
    expect(heir.goes.map(({ run }) => run.attempt)).toEqual([2]);
  });

  it('is done by another when the store is away as it begins', async () => {
    const { open, pass, store } = setUp();
    const { goes, jobs, faulty, reported, start } = open('a');
    start();
    const { ops, settle } = await jobs.toStart(JOB);
    await store.commit([...ops]);
    const away = () => Promise.reject(new StoreError('unavailable', 'away'));
    Object.assign(faulty, { get: away });
    settle();
    await pass(0);
    expect(goes).toEqual([]);
    expect(reported).not.toEqual([]);
    const heir = open('b');
    heir.start();
    await pass(LEASE_MS + 5_000);
    expect(heir.goes).toHaveLength(1);
  });

  it('is waited for by a process that stops', async () => {
    const { open, pass, store } = setUp();
    const { goes, jobs, start } = open('a');
    start();
    const { ops, settle } = await jobs.toStart(JOB);
    let isDrained = false;
    const drained = jobs.drain(60_000).then(() => (isDrained = true));
    await store.commit([...ops]);
    settle();
    await pass(0);
    expect(goes).toHaveLength(1);
    expect(isDrained).toBe(false);
    goes[0]?.end('done');
    await drained;
    expect((await jobs.toStart({ ...JOB, id: 'two' })).ops).not.toEqual([]);
    await pass(1_000);
    expect(goes).toHaveLength(1);
  });
});

describe('a job that ends with a commit of its handler', () => {
  it('is dropped by it, and neither renewed nor done again', async () => {
    const { open, pass, rows, store } = setUp();
    const { goes, jobs, start } = open('a');
    start();
    await jobs.add(JOB);
    await pass(12_000);
    const { run, end } = goes[0] as (typeof goes)[0];
    const ops = run.toEnd?.() ?? [];
    expect((await store.commit([...ops, { type: 'put', key: ['done'], value: 1 }])).ok).toBe(true);
    end('ended');
    await pass(0);
    expect(await rows()).toEqual([]);
    expect(await store.list({ prefix: ['job-due'] })).toEqual([]);
    await pass(2 * LEASE_MS);
    expect(goes).toHaveLength(1);
    expect(run.signal.aborted).toBe(false);
  });

  it('is asked again when the lease was renewed meanwhile', async () => {
    const { open, pass, store } = setUp();
    const { goes, jobs, start } = open('a');
    start();
    await jobs.add(JOB);
    await pass(0);
    const { run } = goes[0] as (typeof goes)[0];
    const former = run.toEnd?.() ?? [];
    await pass(12_000);
    expect((await store.commit([...former])).ok).toBe(false);
    expect((await store.commit([...(run.toEnd?.() ?? [])])).ok).toBe(true);
  });

  it('cannot be dropped by one that has lost it', async () => {
    const { clock, open, pass, store } = setUp();
    const { goes, jobs, faulty, start } = open('a');
    start();
    await jobs.add(JOB);
    await pass(0);
    faulty.fail('before');
    const heir = open('b');
    clock.advance(LEASE_MS);
    heir.start();
    await pass(5_000);
    expect(heir.goes).toHaveLength(1);
    const ops = goes[0]?.run.toEnd?.() ?? [];
    expect((await store.commit([...ops])).ok).toBe(false);
  });
});
