import type { Clock } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { ConcurrencyGauge } from './concurrency-gauge.ts';
import type { ConcurrencyLimiter } from './limiter.ts';

/** Keys that are remembered; beyond, those with nothing in flight are forgotten. */
const MAX_KEYS = 10_000;

export interface ConcurrencyLimiterOptions {
  store: Store;
  clock: Clock;
  worker: string;
  /** The workers whose lease runs; the slots of all others are free again. */
  alive(): Promise<ReadonlySet<string>>;
}

/**
 * Caps the requests of one key in flight, over all processes on the store. The slots of a dead worker are
 * released with its lease, within 15 seconds. Without a cap the store is not read.
 *
 * @throws GatewayError `persistence_failed` when the store does not answer
 */
export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const { store, clock, worker } = options;
  const gauges = new Map<string, ConcurrencyGauge>();

  const gaugeOf = (keyId: string): ConcurrencyGauge => {
    let gauge = gauges.get(keyId);
    if (gauge === undefined) {
      if (gauges.size >= MAX_KEYS) forgetIdle(gauges);
      const alive = () => options.alive();
      gauge = new ConcurrencyGauge({ store, clock, worker, key: ['inflight', keyId], alive });
      gauges.set(keyId, gauge);
    }
    return gauge;
  };

  return {
    enter({ keyId, concurrencyCap }) {
      if (concurrencyCap === null) return () => undefined;
      const gauge = gaugeOf(keyId);
      const entered = gauge.enter(concurrencyCap);
      return entered === false
        ? undefined
        : entered.then((yes) => (yes ? createLeave(gauge) : undefined));
    },
  };
}

function createLeave(gauge: ConcurrencyGauge): () => void {
  let left = false;
  return () => {
    if (left) return;
    left = true;
    gauge.leave();
  };
}

function forgetIdle(gauges: Map<string, ConcurrencyGauge>): void {
  for (const [keyId, gauge] of gauges) if (gauge.idle) gauges.delete(keyId);
}
