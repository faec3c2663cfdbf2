import type { Clock } from '../core/time/clock.ts';
import { toDeadline } from '../core/time/deadline.ts';
import { createSteadyClock, type SteadyClock } from '../core/time/steady-clock.ts';
import type { Op, Store, Version } from '../store/store.ts';
import { JobLease, LEASE_MS } from './job-lease.ts';
import { DueJobs } from './due-jobs.ts';
import { duePrefix, heldKey, jobKey, toAddOps, toChangeOps, toNewRow } from './job-rows.ts';
import type { DueJob, JobRow, StoredJob } from './job-rows.ts';
import type { Job, JobHandler, JobResult, Start } from './jobs.ts';
import { JobPlaces } from './job-places.ts';
import { PollLoop } from './poll-loop.ts';

/** Nothing due waits longer than this. */
const MAX_SLEEP_MS = 60_000;
/** Pause after jobs that others were about to take. */
const SLEEP_AGAIN_MS = 1_000;
const BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 5 * 60_000;
const MAX_DOUBLINGS = 20;

export interface JobWorkerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly kind: string;
  readonly handler: JobHandler;
  /** Gives each go a name that no process ever gives again. */
  readonly nextOwner: () => string;
  /** Most jobs at once in this process. */
  readonly concurrency: number;
  /** Receives errors of handlers, and of a store that fails (then without a job). */
  readonly report: (error: unknown, job?: Job) => void;
}

/** All work of one kind in this process: finds due jobs, claims them, and runs them. */
export class JobWorker {
  readonly #options: JobWorkerOptions;
  readonly #running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  /** Jobs that run but are paused. */
  readonly #paused = new Set<string>();
  /** Starts whose commit is under way. */
  readonly #starting = new Set<Promise<void>>();
  readonly #unwatch: () => void;
  readonly #loop: PollLoop;
  readonly #steady: SteadyClock;
  readonly #due: DueJobs;
  readonly #places: JobPlaces;
  /** Number of waiting jobs as of the last look. */
  #waiting = 0;
  #isAborting = false;

  constructor(options: JobWorkerOptions) {
    this.#options = options;
    this.#steady = createSteadyClock(options.clock);
    this.#due = new DueJobs({ ...options, steady: this.#steady });
    this.#places = new JobPlaces(options.concurrency);
    this.#loop = new PollLoop({
      clock: options.clock,
      maxSleepMs: MAX_SLEEP_MS,
      poll: () => this.#takeDue(),
      report: (error) => options.report(error),
    });
    this.#unwatch = options.store.watch(duePrefix(options.kind), () => this.#loop.wake());
    this.#loop.wake();
  }

  /** Takes no further jobs and aborts paused ones; resolves when all running ones have ended. */
  async drain(): Promise<void> {
    const polled = this.#loop.close();
    this.#unwatch();
    for (const id of this.#paused) this.#running.get(id)?.controller.abort();
    await polled;
    await Promise.all(this.#starting);
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
  }

  /** Takes no further jobs and aborts running ones; resolves when they have ended. */
  async close(): Promise<void> {
    const drained = this.drain();
    for (const { controller } of this.#running.values()) controller.abort();
    this.#isAborting = true;
    await drained;
  }

  /** Jobs that were due and got no slot at the last look; of many, those that it saw. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Claims a job that is about to be added, if there is room and no job waits for it; undefined else. Others
   * take it when this process dies, as they do any claim.
   */
  start(job: Job): Start | undefined {
    const { clock, kind, nextOwner } = this.#options;
    const { id, holder } = job;
    if (this.#loop.isClosed || this.#waiting > 0 || this.#running.has(id)) return undefined;
    const at = toDeadline(clock.now(), LEASE_MS);
    if (!this.#places.enter({ id, at, holder })) return undefined;
    const row = toClaimed(toNewRow(job, at), { at, owner: nextOwner() });
    let settle: (version?: Version) => void = () => undefined;
    const settled = new Promise<Version | undefined>((resolve) => (settle = resolve));
    const starting = settled
      .then((version) => {
        if (version === undefined) return this.#startIfOwned(job, row.owner);
        return this.#start({ kind, id, row, version });
      })
      .finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
    // The caller may want to follow it from its beginning.
    return {
      ops: toAddOps(kind, id, row),
      settle: (version) => void setImmediate(settle, version),
    };
  }

  /** The commit of the claim may have failed, or have been done although its answer was lost. */
  async #startIfOwned(job: Job, owner: string | null): Promise<void> {
    const { store, kind, report } = this.#options;
    const { id } = job;
    try {
      const entry = await store.get<JobRow>(jobKey(kind, id));
      if (entry?.value.owner === owner)
        return this.#start({ kind, id, row: entry.value, version: entry.version });
    } catch (error) {
      // The claim, if there is one, runs out.
      report(error, job);
    }
    this.#places.end(id);
    this.#loop.wake();
  }

  #pause(id: string, isPaused: boolean): void {
    if (isPaused && this.#loop.isClosed) this.#running.get(id)?.controller.abort();
    if (isPaused && this.#running.has(id)) this.#paused.add(id);
    else this.#paused.delete(id);
    const { room } = this.#places;
    this.#places.pause(id, isPaused);
    if (this.#places.room > room) this.#loop.wake();
  }

  /** Starts due jobs as far as there is room; returns for how many ms none is due. */
  async #takeDue(): Promise<number> {
    if (this.#places.room === 0) return MAX_SLEEP_MS;
    const { due: found, nextAt, isAll } = await this.#due.look();
    // A go whose lease ran out may still be on its way out.
    const due = found.filter(({ id }) => !this.#running.has(id) && !this.#places.has(id));
    const admitted = this.#places.admit(due);
    const taken = await this.#takeAll(admitted);
    this.#waiting = due.length - admitted.length;
    if (this.#loop.isClosed) return MAX_SLEEP_MS;
    if (due.length > admitted.length && taken < admitted.length) return SLEEP_AGAIN_MS;
    if (this.#places.room === 0) return MAX_SLEEP_MS;
    const nextMs = nextAt === undefined ? undefined : Math.ceil(nextAt) - this.#options.clock.now();
    const sleepMs = Math.max(0, nextMs ?? (isAll ? MAX_SLEEP_MS : SLEEP_AGAIN_MS));
    // A claim that a step of the clock made due may be a dead process's: its end is not signalled.
    return taken < admitted.length ? Math.min(sleepMs, SLEEP_AGAIN_MS) : sleepMs;
  }

  /** All at once, so that they share a write of the store; returns how many were not another process's. */
  async #takeAll(admitted: readonly DueJob[]): Promise<number> {
    const claims = await Promise.allSettled(
      admitted.map(async (due) => {
        const job = await this.#claim(due).catch((error: unknown) => {
          this.#places.end(due.id);
          throw error;
        });
        if (job) this.#start(job);
        else this.#places.end(due.id);
        return job !== undefined;
      }),
    );
    const failed = claims.find((claim) => claim.status === 'rejected');
    if (failed) throw failed.reason;
    return claims.filter((claim) => claim.status === 'fulfilled' && claim.value).length;
  }

  /** Undefined when another process was faster, or has it and has had no time to renew its claim. */
  async #claim(due: DueJob): Promise<StoredJob | undefined> {
    const { store, clock, kind, nextOwner } = this.#options;
    const { id, at } = due;
    const entry = await store.get<JobRow>(jobKey(kind, id));
    if (!entry || entry.value.at !== at || entry.value.holder !== due.holder) {
      await this.#forget(due, entry?.version);
      return undefined;
    }
    if (entry.value.owner !== null && !this.#steady.hasPassed(at)) return undefined;
    const lease = { at: toDeadline(clock.now(), LEASE_MS), owner: nextOwner() };
    const row = toClaimed(entry.value, lease);
    const seen: StoredJob = { kind, id, row: entry.value, version: entry.version };
    const result = await store.commit(toChangeOps(seen, row));
    return result.ok ? { kind, id, row, version: result.version } : undefined;
  }

  /** A process of an older release knows no holders and does not remove their index rows. */
  async #forget(due: DueJob, version: Version | undefined): Promise<void> {
    if (due.holder === undefined) return;
    const { store, kind } = this.#options;
    const key = jobKey(kind, due.id);
    const unchanged = version === undefined ? { ifAbsent: true as const } : { ifVersion: version };
    await store.commit([
      { type: 'check', key, ...unchanged },
      { type: 'delete', key: heldKey(kind, due) },
    ]);
  }

  #start(job: StoredJob): void {
    const controller = new AbortController();
    if (this.#isAborting) controller.abort();
    const done = this.#run(job, controller).finally(() => {
      this.#running.delete(job.id);
      this.#paused.delete(job.id);
      this.#places.end(job.id);
      this.#loop.wake();
    });
    this.#running.set(job.id, { controller, done });
  }

  async #run(stored: StoredJob, controller: AbortController): Promise<void> {
    const { store, clock, handler, report } = this.#options;
    const { kind, id, row } = stored;
    const job: Job = { kind, id, payload: row.payload };
    const lease = new JobLease({ store, clock, job: stored, onLost: () => controller.abort() });
    const { signal } = controller;
    let next: JobRow | undefined;
    let checks: readonly Op[] = [];
    let { failures } = row;
    try {
      signal.throwIfAborted();
      const result = await handler({
        job,
        attempt: row.attempt,
        failures: row.failures - 1,
        signal,
        pause: (isPaused) => this.#pause(id, isPaused),
        forgive: (counted) => (failures = counted + 1),
        toEnd: () => lease.toEnd(),
      });
      if (result === 'ended') return lease.ended();
      next = afterResult(lease.row, result, clock.now());
      if (typeof result === 'object' && 'doneIf' in result) checks = result.doneIf;
    } catch (error) {
      // One that was called off did not fail, and others may take it at once.
      if (!signal.aborted) report(error, job);
      next = signal.aborted
        ? { ...lease.row, failures: failures - 1, owner: null, at: clock.now() }
        : { ...lease.row, failures, owner: null, at: toDeadline(clock.now(), backoffMs(failures)) };
    }
    try {
      const isEnded = await lease.end(next, checks);
      if (!isEnded && checks.length > 0)
        await lease.end(afterResult(lease.row, { againInMs: 0 }, clock.now()));
    } catch (error) {
      // The lease runs out, and the job is done once more.
      report(error, job);
    }
  }
}

function toClaimed(row: JobRow, lease: Pick<JobRow, 'at' | 'owner'>): JobRow {
  return { ...row, ...lease, attempt: row.attempt + 1, failures: row.failures + 1 };
}

function afterResult(
  row: JobRow,
  result: Exclude<JobResult, 'ended'>,
  now: number,
): JobRow | undefined {
  if (result === 'done' || 'doneIf' in result) return undefined;
  const { againInMs, payload = row.payload } = result;
  const at = toDeadline(now, Math.max(0, againInMs));
  return { ...row, failures: 0, owner: null, at, payload };
}

function backoffMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
}
