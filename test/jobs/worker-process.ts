import { systemClock } from '../../src/core/time/clock.ts';
import type { Clock } from '../../src/core/time/clock.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';

/**
 * One process that does jobs of the kind `work`: it tells its parent of each go. The first go of
 * one whose id begins with `hang` never ends. A number sets its clocks ahead by so many ms.
 */
export interface Go {
  readonly worker: string;
  readonly id: string;
  readonly attempt: number;
}

const [directory = '', worker = ''] = process.argv.slice(2);
let aheadMs = 0;
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
};
const store = await openLmdbStore(directory, systemClock);
const jobs = createJobs({ store, clock, worker, concurrency: 4 });

process.on('message', (ms: number) => {
  aheadMs = ms;
});
jobs.start(
  new Map([
    [
      'work',
      async ({ job: { id }, attempt }) => {
        const go: Go = { worker, id, attempt };
        process.send?.(go);
        if (id.startsWith('hang') && attempt === 1) await new Promise(() => undefined);
        return 'done';
      },
    ],
  ]),
);
process.send?.('ready');
