import type { Liveness, ProcessPlace } from '../../core/liveness.ts';
import type { WorkerLease } from '../../usage/ledger/worker-lease.ts';

/** The process that makes a call. */
export interface CallWorker {
  readonly worker: string;
  /** Absent where the system shows no processes. */
  readonly place?: ProcessPlace | undefined;
}

/** The processes on the store. */
export interface CallWorkers {
  /** This process. */
  readonly own: CallWorker;
  /**
   * True for a process that has ended: at once where this host shows it, elsewhere when its lease
   * has run out. Rejects with `StoreError`.
   */
  isGone(worker: CallWorker): Promise<boolean>;
}

export interface CallWorkersDeps {
  readonly worker: string;
  readonly lease: Pick<WorkerLease, 'isAlive'>;
  readonly liveness: Liveness | undefined;
}

export function createCallWorkers({ worker, lease, liveness }: CallWorkersDeps): CallWorkers {
  return {
    own: { worker, place: liveness?.own },
    async isGone({ worker: other, place }) {
      if (other === worker) return false;
      if (place && liveness?.isGone(place)) return true;
      return !(await lease.isAlive(other));
    },
  };
}
