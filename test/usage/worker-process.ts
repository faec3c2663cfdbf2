import { systemClock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import { createRateLimiter } from '../../src/usage/rates/rate-limiter.ts';
import { createWorkerLease } from '../../src/usage/ledger/worker-lease.ts';
import { sampleBudget } from './budgets/sample-budget.ts';
import { all, decided, fateOf, outcome, principal } from './usage-fixtures.ts';

/**
 * One worker process: opens the store and says `ready`, then makes its part of the requests when told
 * to. It settles every second call and stays with the others open until it is killed.
 */
export interface Task {
  claims: number;
  rpmCap: number;
  calls: number;
  bound: number;
  limit: number;
  /** True: the limit is that of a budget that names the key. Default: of the key. */
  isBudget?: boolean;
}

export interface Report {
  accepted: number;
  admitted: number;
  refused: number;
  settled: number;
}

const [directory = '', worker = ''] = process.argv.slice(2);
const store = await openLmdbStore(directory, systemClock);
const clock = systemClock;
await createWorkerLease({ store, clock, worker }).start();
const ledger = createLedger({ store, clock, worker });
const limiter = createRateLimiter({ store, clock, platformCap: () => null, ledger: ledger.claims });
const ids = createIdSource(clock);

process.on('message', (task: Task) => {
  void run(task).then((report) => process.send?.(report));
});
process.send?.('ready');

async function run({ claims, rpmCap, calls, bound, limit, isBudget }: Task): Promise<Report> {
  const budgets = [sampleBudget({ amount: limit, isOfKeys: true })];
  const who = principal({
    rpmCap,
    ...(isBudget ? { budgets } : { keySpend: { lifetime: limit } }),
  });
  const answers = await all(Array.from({ length: claims }, () => decided(limiter.admitKey(who))));
  const entries = Array.from({ length: calls }, () =>
    ledger.begin({
      id: ids.next('req'),
      at: clock.now(),
      principal: who,
      surface: 'chat',
      model: 'acme/one',
      stream: false,
      bound,
    }),
  );
  const fates = await Promise.all(entries.map(fateOf));
  const admitted = entries.filter((_, index) => fates[index] === 'admitted');
  const settled = admitted.filter((_, index) => index % 2 === 1);
  for (const entry of settled) entry.settle(outcome({ cost: bound }));
  await ledger.drain();
  return {
    accepted: answers.filter(Boolean).length,
    admitted: admitted.length,
    refused: fates.filter((fate) => fate === 'key_spending_limit').length,
    settled: settled.length,
  };
}
