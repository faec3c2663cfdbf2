import type { Clock, Timer } from '../core/time/clock.ts';
import { toDeadline } from '../core/time/deadline.ts';
import type { Store } from '../store/store.ts';
import { jobKey, toAddOps, toChangeOps, toNewRow, toWakeOps } from './job-rows.ts';
import type { JobRow } from './job-rows.ts';
import type { Job, Jobs, Start } from './jobs.ts';
import { JobWorker } from './job-worker.ts';
import type { Liveness } from '../core/liveness.ts';
import { Membership } from './membership.ts';

const CONCURRENCY = 16;
/** Time in ms for which an aborted job may still leave; then its lease runs out in its own time. */
const CLOSE_MS = 10_000;
const MAX_TRIES = 20;

export interface JobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Unique for every start of a process. */
  readonly worker: string;
  /** Most jobs of one kind at once in this process. Default 16. */
  readonly concurrency?: number;
  /** The same for kinds that need other room, by kind. */
  readonly rooms?: ReadonlyMap<string, number>;
  /** Sees other processes die. Default: their jobs are taken when the leases have run out. */
  readonly liveness?: Liveness | undefined;
  /** Receives errors of handlers, and of a store that fails (then without a job). Default: no receiver. */
  readonly report?: (error: unknown, job?: Job) => void;
}

/**
 * Jobs on a store, for any number of processes. A job is claimed by compare-and-set for 30 seconds and
 * the claim is renewed every 10; a claim that is not renewed falls due like any other job, so what a
 * dead process left is done again: within a second or two where it can be seen that it died, else when
 * the claim has run out. An exception waits 1 second, then twice as long each time, 5 minutes
 * at most. Each kind has room of its own, so a slow kind never holds up another.
 */
export function createJobs(options: JobsOptions): Jobs {
  const { store, clock, worker, rooms, liveness, report = () => undefined } = options;
  const roomFor = (kind: string): number => rooms?.get(kind) ?? options.concurrency ?? CONCURRENCY;
  const workers = new Map<string, JobWorker>();
  let membership: Membership | undefined;
  let goes = 0;
  let closing: Promise<void> | undefined;
  const nextOwner = (): string => `${worker}-${++goes}`;
  const toAdd: Jobs['toAdd'] = (job, { inMs = 0 } = {}) => {
    const at = toDeadline(clock.now(), Math.max(0, inMs));
    return toAddOps(job.kind, job.id, toNewRow(job, at));
  };
  const closeAll = async (): Promise<void> => {
    const ended = Promise.all(Array.from(workers.values(), (one) => one.close()));
    const isDone = await within(ended, CLOSE_MS, clock);
    await membership?.close({ isDone });
  };

  return {
    toAdd,
    toWake: async (job) =>
      toWakeOps(job, await store.get<JobRow>(jobKey(job.kind, job.id)), clock.now()),
    async toStart(job) {
      const entry = await store.get<JobRow>(jobKey(job.kind, job.id));
      const start = entry ? undefined : workers.get(job.kind)?.start(job);
      const wake = (): Start => ({ ops: toWakeOps(job, entry, clock.now()), settle() {} });
      return start ?? wake();
    },
    add: async (job, when) => (await store.commit(toAdd(job, when))).ok,
    waiting: () => new Map(Array.from(workers, ([kind, one]) => [kind, one.waiting])),
    remove: (kind, id) => removeJob(store, kind, id),
    start(handlers) {
      if (closing) return;
      if (liveness) membership ??= new Membership({ store, clock, worker, liveness, report });
      for (const [kind, handler] of handlers) {
        if (workers.has(kind)) throw new Error(`the jobs ${kind} are already taken care of`);
        const concurrency = roomFor(kind);
        const kindOptions = { store, clock, kind, handler, nextOwner, concurrency, report };
        workers.set(kind, new JobWorker(kindOptions));
      }
    },
    async drain(ms) {
      const drained = Promise.all(Array.from(workers.values(), (one) => one.drain()));
      await within(drained, ms, clock);
    },
    close: () => (closing ??= closeAll()),
  };
}

/** A worker that runs it learns of it when it renews the lease or ends. */
async function removeJob(store: Store, kind: string, id: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const entry = await store.get<JobRow>(jobKey(kind, id));
    if (!entry) return;
    const stored = { kind, id, row: entry.value, version: entry.version };
    if ((await store.commit(toChangeOps(stored, undefined))).ok) return;
  }
}

/** False when it takes longer. */
async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = clock.setTimeout(() => resolve(false), ms);
  });
  const isInTime = await Promise.race([done.then(() => true), late]);
  timer?.cancel();
  return isInTime;
}
