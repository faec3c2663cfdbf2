import { describe, expect, it, onTestFinished } from 'vitest';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { createSweepJob, SWEEP_SOON, sweepJob } from '../../src/jobs/sweep-job.ts';
import type { Sweep, SweepStep, Swept } from '../../src/jobs/sweep-job.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { turns } from '../usage/usage-fixtures.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = Date.parse('2026-11-21T00:00:00Z');

/** Two processes on one store that do the steps of one sweep. */
async function setUp(answer: (call: number) => Swept | Promise<Swept>) {
  const clock = createFakeClock(START);
  const store = openMemoryStore(clock);
  const steps: SweepStep[] = [];
  const told: number[] = [];
  let underWay = 0;
  const sweep: Sweep = async (step) => {
    expect(++underWay).toBe(1);
    steps.push(step);
    try {
      await turns(1);
      return await answer(steps.length);
    } finally {
      underWay--;
    }
  };
  const job = sweepJob('retention-things');
  const counted: number[] = [];
  const open = (worker: string) => {
    const jobs = createJobs({ store, clock, worker });
    onTestFinished(() => jobs.close());
    const count = (removed: number): void => void counted.push(removed);
    const tell = (removed: number): void => void told.push(removed);
    const handler = createSweepJob({ clock, olderThanMs: DAY, sweep, count, tell });
    jobs.start(new Map([[job.kind, handler]]));
    return jobs;
  };
  const [first, second] = [open('a'), open('b')];
  expect([await first.add(job, SWEEP_SOON), await second.add(job, SWEEP_SOON)]).toEqual([
    true,
    false,
  ]);
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1_000) {
      clock.advance(Math.min(left, 1_000));
      await turns(12);
    }
  };
  return { clock, steps, told, counted, pass, first, second };
}

describe('a sweep', () => {
  it('goes on from step to step, in one process at a time, and tells once what it removed', async () => {
    const rig = await setUp((call) =>
      call < 4 ? { removed: call, cursor: `c${call}` } : { removed: 0 },
    );
    await rig.pass(59_000);
    expect(rig.steps).toEqual([]);
    await rig.pass(10_000);
    expect(rig.steps.map(({ cursor }) => cursor)).toEqual([undefined, 'c1', 'c2', 'c3']);
    expect(rig.steps[0]?.before).toBeLessThanOrEqual(rig.clock.now() - DAY);
    expect(rig.steps[0]?.before).toBeGreaterThanOrEqual(START - DAY);
    expect([rig.counted, rig.told]).toEqual([[1, 2, 3], [6]]);
  });

  it('comes again an hour later, and tells nothing of a round that removed nothing', async () => {
    const rig = await setUp(() => ({ removed: 0 }));
    await rig.pass(HOUR + 120_000);
    expect(rig.steps.map(({ cursor }) => cursor)).toEqual([undefined, undefined]);
    expect(rig.told).toEqual([]);
  });

  it('goes on in another process where the first one was, after a stop and after a failure', async () => {
    const rig = await setUp((call) => {
      if (call === 2) throw new StoreError('unavailable', 'away');
      return call < 4 ? { removed: 5, cursor: `c${call}` } : { removed: 5 };
    });
    await rig.pass(61_000);
    await rig.first.close();
    await rig.pass(20_000);
    expect(rig.steps.map(({ cursor }) => cursor)).toEqual([undefined, 'c1', 'c1', 'c3']);
    expect(rig.told).toEqual([15]);
  });
});
