import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { readSpend } from '../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../src/usage/recovery/recover-open.ts';
import { listRequests } from '../../src/usage/requests/request-log.ts';
import { verifies } from '../requirements.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import { budgetScope } from '../../src/usage/budgets/extra-payers.ts';
import type { Scope } from '../../src/usage/ledger/ledger-keys.ts';
import { sampleBudget } from './budgets/sample-budget.ts';
import type { Report, Task } from './worker-process.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const TASK: Task = { claims: 500, rpmCap: 100, calls: 40, bound: 100, limit: 3_000 };

describe('two worker processes on one store', () => {
  let directory: string;
  let workers: ChildProcess[];
  let store: Store;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-'));
    const script = await bundleScript(
      fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
    );
    workers = ['a', 'b'].map((name) => fork(script, [directory, name]));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    store = await openLmdbStore(directory, systemClock);
  });

  afterEach(async () => {
    await killAll();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const runBoth = async (task: Task): Promise<Report[]> => {
    const reports = workers.map((worker) => once(worker, 'message') as Promise<[Report]>);
    for (const worker of workers) worker.send(task);
    return (await Promise.all(reports)).map(([report]) => report);
  };

  async function killAll(): Promise<void> {
    const running = workers.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const exits = running.map((worker) => once(worker, 'exit'));
    for (const worker of running) worker.kill('SIGKILL');
    await Promise.all(exits);
  }

  it(
    verifies(
      'limits.rpm.exact-across-workers',
      'store.ledger.never-exceeds',
      'store.ledger.release-on-restart',
      'share their limits exactly, and what they held is charged when they are killed',
    ),
    async () => {
      await expectExact(TASK, KEY);
    },
  );

  it(
    verifies('budgets.exact', 'share a budget exactly, and what they held is charged to it'),
    async () => {
      const budget = sampleBudget();
      await expectExact(
        { ...TASK, isBudget: true },
        budgetScope(budget, budget.windowAt(Date.now())),
      );
    },
  );

  async function expectExact(task: Task, scope: Scope): Promise<void> {
    const reports = await runBoth(task);
    const sum = (of: (report: Report) => number) =>
      reports.reduce((total, each) => total + of(each), 0);
    expect(sum(({ accepted }) => accepted)).toBe(100);
    expect(sum(({ admitted }) => admitted)).toBe(30);
    expect(sum(({ refused }) => refused)).toBe(50);
    const settled = sum(({ settled }) => settled) * TASK.bound;
    expect((await readSpend({ store }, scope, Date.now())).lifetime).toEqual({
      settled,
      reserved: TASK.limit - settled,
    });

    await killAll();
    // As if the leases had run out.
    for (const worker of ['a', 'b'])
      await store.commit([{ type: 'delete', key: ['worker', worker] }]);
    const open = 30 - settled / TASK.bound;
    expect(await recoverOpen({ store })).toEqual({
      interrupted: open,
      charged: open * TASK.bound,
    });
    expect((await readSpend({ store }, scope, Date.now())).lifetime).toEqual({
      settled: TASK.limit,
      reserved: 0,
    });
    const { data } = await listRequests({ store }, { limit: 100 });
    expect(data.filter(({ result }) => result === 'interrupted')).toHaveLength(open);
    expect(data.filter(({ result }) => result === 'ok')).toHaveLength(settled / TASK.bound);
  }
});
