import { createSealer } from '../../core/seal.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { createIdempotencyRecords } from './records.ts';
import type { IdempotencyDeps } from './with-idempotency.ts';
import type { CallWorkers } from './workers.ts';

export interface NamedCallsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly masterKeys: readonly Uint8Array[];
  readonly workers: CallWorkers;
  /** Receives the failure to keep an answer. */
  readonly report: (error: unknown) => void;
}

/** Parts that named calls need (`Idempotency-Key`). */
export function namedCalls({
  store,
  clock,
  masterKeys,
  workers,
  report,
}: NamedCallsOptions): Pick<IdempotencyDeps, 'clock' | 'records'> {
  return {
    clock,
    records: createIdempotencyRecords({
      store,
      clock,
      workers,
      sealer: createSealer(masterKeys),
      report,
    }),
  };
}
