import type { ProcessPlace } from '../../core/liveness.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { fenceKey, leaseKey, LEASES, rosterKey } from './ledger-keys.ts';

const TTL_MS = 15_000;
const BEAT_MS = 5_000;
const MAX_WORKERS = 10_000;

export interface WorkerLeaseOptions {
  store: Store;
  clock: Clock;
  /** Unique for every start of a process. */
  worker: string;
  /** Process that others on the host can look for. Absent where the system shows no processes. */
  place?: ProcessPlace | undefined;
}

/** Row of the roster; of a worker that woke, nothing is in it. */
export type RosterRow = { readonly since: number; readonly place?: ProcessPlace } | null;

/** Time after a renewal for which the lease is surely valid. */
const SURE_MS = 10_000;

/**
 * Shows all processes on the store that this one lives. The reservations of a worker are released when its
 * lease has not been renewed for 15 seconds; it is renewed every 5.
 */
export interface WorkerLease {
  /** Must resolve before the worker takes requests. Rejects with `StoreError`. */
  start(): Promise<void>;
  /** The workers whose lease runs. Rejects with `StoreError`. */
  alive(): Promise<ReadonlySet<string>>;
  /** True while the lease of one worker runs. Rejects with `StoreError`. */
  isAlive(worker: string): Promise<boolean>;
  /** Renews the lease now. Rejects with `StoreError`. */
  renew(): Promise<void>;
  /** True while the lease is surely valid. */
  isSure(): boolean;
  /** Grows whenever the lease could have expired for others. */
  readonly lapses: number;
  /** Gives the lease back once the ledger is drained: nothing is to clean up. Rejects with `StoreError`. */
  release(): Promise<void>;
}

export function createWorkerLease({
  store,
  clock,
  worker,
  place,
}: WorkerLeaseOptions): WorkerLease {
  const key = leaseKey(worker);
  const since = clock.now();
  let timer: Timer | undefined;
  let beat: Promise<void> = Promise.resolve();
  let sureUntil = -Infinity;
  let lapses = 0;
  const row: RosterRow = place ? { since, place } : { since };

  // The roster too: a worker that slept so long that others cleaned up after it is known again.
  const renew = async (): Promise<void> => {
    const begun = clock.monotonic();
    await store.commit([
      { type: 'put', key, value: { since }, ttlMs: TTL_MS },
      { type: 'put', key: rosterKey(worker), value: row },
    ]);
    if (clock.monotonic() >= sureUntil) lapses++;
    sureUntil = begun + SURE_MS;
  };

  const schedule = (): void => {
    timer = clock.setTimeout(() => {
      // A beat that fails is made up for by the next one; the lease outlasts two of them.
      beat = renew().then(
        () => undefined,
        () => undefined,
      );
      schedule();
    }, BEAT_MS);
  };

  return {
    async start() {
      await renew();
      schedule();
    },
    alive: () => aliveWorkers(store),
    renew,
    isSure: () => clock.monotonic() < sureUntil,
    get lapses() {
      return lapses;
    },
    isAlive: async (other) => (await store.get(leaseKey(other))) !== undefined,
    async release() {
      timer?.cancel();
      // A beat that is under way would restore the deleted row.
      await beat;
      await store.commit([
        { type: 'delete', key },
        { type: 'delete', key: rosterKey(worker) },
        { type: 'delete', key: fenceKey(worker) },
      ]);
    },
  };
}

export async function aliveWorkers(store: Store): Promise<ReadonlySet<string>> {
  const leases = await store.list({ prefix: LEASES, limit: MAX_WORKERS });
  return new Set(leases.map(({ key }) => String(key[1])));
}
