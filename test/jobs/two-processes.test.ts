import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { eventually } from '../support/gateway.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import { forkScript } from '../support/process/fork-script.ts';
import type { Go } from './worker-process.ts';

const SCRIPT = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

async function startWorker(directory: string, name: string, goes: Go[]): Promise<ChildProcess> {
  const worker = await forkScript(await bundleScript(SCRIPT), [directory, name]);
  worker.on('message', (go: Go) => void goes.push(go));
  return worker;
}

describe('jobs of two processes on one disk store', () => {
  it('are each done once, and what a killed process held is done by the other', async () => {
    const directory = await temporaryDirectory();
    const store = await openLmdbStore(directory, systemClock);
    onTestFinished(() => store.close());
    const jobs = createJobs({ store, clock: systemClock, worker: 'parent' });
    const add = (id: string) => jobs.add({ kind: 'work', id, payload: null });
    const goes: Go[] = [];
    const names = ['a', 'b'];
    const workers = await Promise.all(names.map((name) => startWorker(directory, name, goes)));

    const ids = Array.from({ length: 100 }, (_, index) => `job-${index}`);
    await Promise.all(ids.map(add));
    await eventually(async () => (await store.list({ prefix: ['job'] })).length === 0);
    // Workers tell of their goes by message, which may come after the store says that all is done.
    await eventually(() => goes.length >= ids.length);
    expect(goes.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());

    await add('hang');
    const held = await eventually(() => goes.find(({ id }) => id === 'hang'));
    const [dead, living] = held.worker === 'a' ? workers : workers.toReversed();
    dead?.kill('SIGKILL');
    if (dead) await once(dead, 'exit');
    await add('nudge');
    await eventually(() => goes.some(({ id }) => id === 'nudge'));
    expect(goes.filter(({ id }) => id === 'hang')).toHaveLength(1);

    // As if the lease had run out; commits make the other process look.
    living?.send(31_000);
    await eventually(async () => {
      await add('nudge again');
      return goes.filter(({ id }) => id === 'hang').length === 2;
    });
    expect(goes.findLast(({ id }) => id === 'hang')).toEqual({
      worker: held.worker === 'a' ? 'b' : 'a',
      id: 'hang',
      attempt: 2,
    });
    await eventually(async () => (await store.list({ prefix: ['job'] })).length === 0);
  });
});
