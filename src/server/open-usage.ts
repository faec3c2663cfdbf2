import type { ServerConfig } from '../config/server-config.ts';
import type { Clock } from '../core/clock.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../store/store.ts';
import { createConcurrencyLimiter } from '../usage/concurrency-limiter.ts';
import { createLedger } from '../usage/ledger-store.ts';
import type { Ledger } from '../usage/ledger.ts';
import type { ConcurrencyLimiter, RateLimiter } from '../usage/limiter.ts';
import { createRateLimiter } from '../usage/rate-limiter.ts';
import { startRecovery } from '../usage/start-recovery.ts';
import { createWorkerLease } from '../usage/worker-lease.ts';
import { reasonOf } from './reason-of.ts';

/** Limits and records of this process on a store. */
export interface LiveUsage {
  readonly ledger: Ledger;
  readonly rates: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  /** Settles what is open and gives up the lease. */
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
      if ('error' in result) log.warn('recovery failed', { reason: reasonOf(result.error) });
      else log.info('recovered calls of a dead worker', { ...result.recovered });
    },
  });
  const ledger = createLedger({
    store,
    clock,
    worker,
    mode: config.ledger,
    logContent: config.log.content,
    report: (error) => log.error('the ledger cannot write', { reason: reasonOf(error) }),
  });
  return {
    ledger,
    rates: createRateLimiter({ store, clock, platformCap: () => config.limits.rpm }),
    concurrency: createConcurrencyLimiter({ store, clock, worker, alive: () => lease.alive() }),
    async close() {
      stopRecovery();
      await ledger.drain();
      await lease.release();
    },
  };
}
