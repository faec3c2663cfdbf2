import { systemClock, type Clock } from '../../../src/core/time/clock.ts';
import { backUp } from '../../../src/store/backends/lmdb/backup/back-up.ts';
import { restore } from '../../../src/store/backends/lmdb/backup/restore.ts';
import { migrateStore } from '../../../src/store/raw/migrate-store.ts';
import { StoreError } from '../../../src/store/store.ts';

/**
 * `node dying-work.ts <work> <options as JSON> <steps>` kills itself at that step, counted over all
 * that the work tells of; prints `done`, or the code of its failure.
 */
const [work = '', json = '{}', steps = ''] = process.argv.slice(2);
let left = Number(steps);
const step = (): void => {
  if (--left === 0) process.kill(process.pid, 'SIGKILL');
};
const clock: Clock = {
  ...systemClock,
  now() {
    step();
    return systemClock.now();
  },
};
const { signal } = new AbortController();
const options = { signal, onRows: step, onBytes: step, onCopied: step, ...JSON.parse(json) };
const works: Record<string, () => Promise<unknown>> = {
  backUp: () => backUp({ ...options, clock }),
  restore: () => restore({ ...options, clock }),
  // How often a lease looks at the time depends on the driver.
  migrate: () => migrateStore({ ...options, clock: systemClock }),
};
try {
  await works[work]?.();
  process.stdout.write('done');
} catch (error) {
  process.stdout.write(error instanceof StoreError ? error.code : String(error));
}
