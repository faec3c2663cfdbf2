import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Store } from '../../store/store.ts';
import { createConcurrencyLimiter } from '../../usage/rates/concurrency-limiter.ts';
import { createLedger } from '../../usage/ledger/ledger-store.ts';
import type { StoreLedger } from '../../usage/ledger/ledger-store.ts';
import type { ConcurrencyLimiter, RateLimiter } from '../../usage/rates/limiter.ts';
import { createRateLimiter } from '../../usage/rates/rate-limiter.ts';
import { startRecovery } from '../../usage/recovery/start-recovery.ts';
import { createWorkerLease } from '../../usage/ledger/worker-lease.ts';
import type { WorkerLease } from '../../usage/ledger/worker-lease.ts';
import { tellFailure } from './report-store.ts';

/** A stop waits so long for a store that is away. */
const SETTLE_MS = 10_000;

/** Limits and records of this process on a store. */
export interface LiveUsage {
  readonly ledger: StoreLedger;
  readonly rates: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  /** This process as {@link lease} knows it. */
  readonly worker: string;
  readonly lease: Pick<WorkerLease, 'isAlive'>;
  /**
   * Settles what is open and gives up the lease. What a store that is away keeps from being settled is left
   * to others, like that of a process that died.
   */
  close(): Promise<void>;
}

export interface UsageOptions {
  config: ServerConfig;
  clock: Clock;
  ids: IdSource;
  log: Log;
}

export async function openUsage(store: Store, options: UsageOptions): Promise<LiveUsage> {
  const { config, clock, ids, log } = options;
  const worker = ids.next('worker');
  const lease = createWorkerLease({ store, clock, worker });
  await lease.start();
  const stopRecovery = startRecovery({
    store,
    clock,
    report: (result) => {
      if ('error' in result) tellFailure(log, 'recovery failed', { error: result.error });
      else log.info('recovered calls of a dead worker', { ...result.recovered });
    },
  });
  const ledger = createLedger({
    store,
    clock,
    worker,
    mode: config.ledger,
    logContent: config.log.content,
    report: (error) => tellFailure(log, 'the ledger cannot write', { error }),
  });
  const rates = createRateLimiter({ store, clock, platformCap: () => config.limits.rpm });
  return {
    ledger,
    rates,
    concurrency: createConcurrencyLimiter({ store, clock, worker, alive: () => lease.alive() }),
    worker,
    lease,
    async close() {
      stopRecovery();
      rates.close();
      if (await isWithin(ledger.drain(), SETTLE_MS, clock)) await lease.release();
      else log.error('not everything could be settled; others do it when the store is back');
    },
  };
}

async function isWithin(done: Promise<void>, ms: number, clock: Clock): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<false>((resolve) => {
    timer = clock.setTimeout(() => resolve(false), ms);
  });
  const isInTime = await Promise.race([done.then(() => true), late]);
  timer?.cancel();
  return isInTime;
}
