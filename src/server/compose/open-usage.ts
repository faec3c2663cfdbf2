import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import { heldOpen } from '../../core/time/held-open.ts';
import type { IdSource } from '../../core/ids.ts';
import { createHostLiveness } from '../../core/liveness.ts';
import type { Liveness, ProcessPlace } from '../../core/liveness.ts';
import type { Log } from '../../core/log.ts';
import type { Store } from '../../store/store.ts';
import { createConcurrencyLimiter } from '../../usage/rates/concurrency-limiter.ts';
import { createLedger } from '../../usage/ledger/ledger-store.ts';
import type { StoreLedger } from '../../usage/ledger/ledger-store.ts';
import { besideLedger, tellingLedger } from '../../usage/journal/beside-ledger.ts';
import { SoleWorker } from '../../usage/journal/sole-worker.ts';
import type { SoleWorkerOptions } from '../../usage/journal/sole-worker.ts';
import type { ConcurrencyLimiter, RateLimiter } from '../../usage/rates/limiter.ts';
import { createRateLimiter } from '../../usage/rates/rate-limiter.ts';
import type { StoreRateLimiter } from '../../usage/rates/rate-limiter.ts';
import type { RequestSignals } from '../../usage/requests/live/request-signals.ts';
import { recoverOpen } from '../../usage/recovery/recover-open.ts';
import { startRecovery } from '../../usage/recovery/start-recovery.ts';
import { createWorkerLease } from '../../usage/ledger/worker-lease.ts';
import type { WorkerLease } from '../../usage/ledger/worker-lease.ts';
import type { StoreWork } from './count-store-work.ts';
import { tellFailure } from './report-store.ts';

/** A stop waits so long for a store that is away. */
const SETTLE_MS = 10_000;

/** Limits and records of this process on a store. */
export interface LiveUsage {
  /** The store for everything but the ledger. */
  readonly store: Store;
  readonly ledger: StoreLedger;
  readonly rates: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  /** This process as {@link lease} knows it. */
  readonly worker: string;
  readonly lease: Pick<WorkerLease, 'isAlive'>;
  readonly liveness: Liveness | undefined;
  /** Number of the span for which only this process has been on the store; undefined while others may be. */
  term(): number | undefined;
  /**
   * Settles open calls and gives up the lease. Calls that an unreachable store keeps open are left
   * to other workers, like those of a process that died.
   */
  close(): Promise<void>;
}

export interface UsageOptions {
  config: ServerConfig;
  clock: Clock;
  ids: IdSource;
  log: Log;
  /** Callbacks for what no caller sees the end of. */
  signals: RequestSignals;
}

export async function openUsage(raw: Store, options: UsageOptions): Promise<LiveUsage> {
  const { clock, ids, log } = options;
  const worker = ids.next('worker');
  const liveness = createHostLiveness();
  const lease = createWorkerLease({ store: raw, clock, worker, place: liveness?.own });
  await lease.start();
  const { ledger, rates, join } = openLimits(raw, { ...options, worker });
  const store = raw.folder === undefined ? raw : besideLedger(raw, ledger);
  // A decision of the ledger waits until the dead are cleaned up after.
  const bare = raw.folder === undefined ? raw : tellingLedger(raw, ledger);
  const isGone = (place: ProcessPlace): boolean => liveness?.isGone(place) === true;
  const sole = openSole({ ...options, store: bare, worker, lease, isGone, ledger, rates });
  if (sole) {
    join(sole);
    await heldOpen(sole.enter());
  }
  const stopRecovery = startRecovery({
    store: bare,
    clock,
    isGone,
    report: (result) => {
      if ('error' in result) tellFailure(log, 'recovery failed', { error: result.error });
      else log.info('recovered calls of a dead worker', { ...result.recovered });
    },
  });
  return {
    store,
    ledger,
    rates,
    concurrency: createConcurrencyLimiter({ store, clock, worker, alive: () => lease.alive() }),
    worker,
    lease,
    liveness,
    // A store at process scope turns a second process away.
    term: () => (raw.scope === 'process' ? 0 : sole?.term),
    async close() {
      stopRecovery();
      rates.close();
      ledger.close();
      if (await isWithin(ledger.drain(), SETTLE_MS, clock)) {
        await sole?.leave();
        await lease.release();
      } else log.error('not everything could be settled; others do it when the store is back');
    },
  };
}

/**
 * Mark of the span for which only this process has been on the store. Each failed write changes it,
 * too: its rows may be in the store, and no reader was notified.
 */
export function aloneMark(
  { term }: Pick<LiveUsage, 'term'>,
  { failed }: Pick<StoreWork, 'failed'>,
): string | undefined {
  const number = term();
  return number === undefined ? undefined : `${number} ${failed}`;
}

/** The ledger and the rates; they keep a journal once they have joined the other workers of the host. */
function openLimits(
  store: Store,
  { config, clock, log, signals, worker }: UsageOptions & { worker: string },
): { ledger: StoreLedger; rates: StoreRateLimiter; join(sole: SoleWorker): void } {
  const { folder } = store;
  let joined: SoleWorker | undefined;
  const ledger = createLedger({
    store,
    clock,
    worker,
    mode: config.ledger,
    ...(folder !== undefined && {
      journal: {
        folder,
        sync: config.ledgerSync,
        isSole: () => joined?.isSole === true,
        isKnown: () => joined?.isKnown === true,
        ready: () => joined?.ready(),
      },
    }),
    logContent: config.log.content,
    report: (error) => tellFailure(log, 'the ledger met a fault', { error }),
    onLanded: (start, outcome) => signals.listener?.ended(start, outcome),
  });
  const platformCap = (): number | null => config.limits.rpm;
  const rates = createRateLimiter({ store, clock, platformCap, ledger: ledger.claims });
  return { ledger, rates, join: (sole) => void (joined = sole) };
}

type SoleParts = UsageOptions &
  Pick<SoleWorkerOptions, 'store' | 'worker' | 'lease' | 'isGone'> & {
    ledger: StoreLedger;
    rates: StoreRateLimiter;
  };

/** Absent where others reach the store without this machine: they would miss what a lost node kept. */
function openSole({ ledger, rates, config, log, ...parts }: SoleParts): SoleWorker | undefined {
  if (parts.store.folder === undefined) return undefined;
  const startOver = (): void => {
    ledger.startOver();
    rates.forget();
  };
  return new SoleWorker({
    ...parts,
    mayBeSole: config.workers === 1,
    recover: () => recoverOpen(parts),
    onBegin: startOver,
    onReturn: () => ledger.startOver(),
    async onEnd() {
      const isStored = await ledger.fold();
      startOver();
      return isStored;
    },
    report: (error) => tellFailure(log, 'the workers on the store could not agree', { error }),
  });
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
