import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { JobRun } from '../../src/jobs/jobs.ts';
import { createHostLiveness } from '../../src/core/liveness.ts';
import type { Liveness } from '../../src/core/liveness.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { turns } from '../usage/usage-fixtures.ts';

const place = (pid: number) => ({ host: 'here', pid, started: '1' });

/** Processes on one store; those in `dead` are seen to be gone. */
function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const dead = new Set<number>();
  const goes: { worker: string; run: JobRun }[] = [];
  const open = (worker: string, pid: number) => {
    const liveness: Liveness = {
      own: place(pid),
      isGone: ({ pid: other }) => dead.has(other),
    };
    const jobs = createJobs({ store, clock, worker, liveness, concurrency: 2 });
    const hang = (run: JobRun) => {
      goes.push({ worker, run });
      return new Promise<'done'>((resolve, reject) => {
        if (run.attempt > 1) resolve('done');
        run.signal.addEventListener('abort', () => reject(new Error('called off')));
      });
    };
    jobs.start(new Map([['work', hang]]));
    return jobs;
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000);
      await turns();
    }
  };
  return { store, dead, goes, open, pass };
}

describe('what a dead process held', () => {
  it('is done by another within seconds, where it can be seen that it died', async () => {
    const { store, dead, goes, open, pass } = setUp();
    const first = open('a', 1);
    await first.add({ kind: 'work', id: 'one', payload: null });
    await turns();
    open('b', 2);
    await pass(5);
    expect(goes).toHaveLength(1);
    dead.add(1);
    await pass(2);
    expect(goes.map(({ worker, run }) => [worker, run.attempt, run.failures])).toEqual([
      ['a', 1, 0],
      ['b', 2, 1],
    ]);
    expect(await store.list({ prefix: ['job'] })).toEqual([]);
    expect((await store.list({ prefix: ['job-worker'] })).map(({ key }) => key[1])).toEqual(['b']);
  });

  it('is done at once by the next process, when none was left', async () => {
    const { dead, goes, open, pass } = setUp();
    const first = open('a', 1);
    await first.add({ kind: 'work', id: 'one', payload: null });
    await turns();
    dead.add(1);
    open('b', 2);
    await turns();
    await pass(1);
    expect(goes.map(({ worker }) => worker)).toEqual(['a', 'b']);
  });

  it('is left alone while the process lives, and a process that stops leaves no trace', async () => {
    const { store, goes, open, pass } = setUp();
    const first = open('a', 1);
    const second = open('b', 2);
    await first.add({ kind: 'work', id: 'one', payload: null });
    await pass(120);
    expect(goes).toHaveLength(1);
    await first.close();
    await second.close();
    expect(await store.list({ prefix: ['job-worker'] })).toEqual([]);
  });
});

describe('the liveness of processes on a host', () => {
  it.runIf(createHostLiveness())('tells the dead from the living', async () => {
    const liveness = createHostLiveness() as Liveness;
    const child = spawn('sleep', ['600']);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const pid = child.pid as number;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] as string;
    const { host } = liveness.own;
    expect(liveness.own.pid).toBe(process.pid);
    expect(liveness.isGone(liveness.own)).toBe(false);
    expect(liveness.isGone({ host, pid, started })).toBe(false);
    expect(liveness.isGone({ host, pid, started: '0' })).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(liveness.isGone({ host, pid, started })).toBe(true);
    expect(liveness.isGone({ host: 'elsewhere', pid, started })).toBe(false);
  });
});
