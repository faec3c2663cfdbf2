import type { Clock } from '../core/clock.ts';
import type { Op, Store } from '../store/store.ts';
import { JobHold, LEASE_MS } from './job-hold.ts';
import { duePrefix, fromDueKey, jobKey, toChangeOps } from './job-rows.ts';
import type { JobRow, StoredJob } from './job-rows.ts';
import type { Job, JobHandler, JobResult } from './jobs.ts';
import { LookLoop } from './look-loop.ts';

/** Jobs that one look takes into account; the next look sees the rest. */
const PAGE = 64;
/** Nothing due waits longer than this. */
const MAX_SLEEP_MS = 60_000;
/** After jobs that others were about to take. */
const SLEEP_AGAIN_MS = 1_000;
const BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 5 * 60_000;
const MAX_DOUBLINGS = 20;

export interface LaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly kind: string;
  readonly handler: JobHandler;
  /** Gives each go a name that no process ever gives again. */
  readonly nextOwner: () => string;
  /** Goes at once in this process. */
  readonly concurrency: number;
  /** Told of handlers that threw, and of a store that fails (then without a job). */
  readonly report: (error: unknown, job?: Job) => void;
}

/** All work of one kind in this process: finds what is due, claims it, and has it done. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  /** Those that run but only wait for somebody. */
  readonly #paused = new Set<string>();
  readonly #unwatch: () => void;
  readonly #loop: LookLoop;
  #isAborting = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#loop = new LookLoop({
      clock: options.clock,
      maxSleepMs: MAX_SLEEP_MS,
      look: () => this.#takeDue(),
      report: (error) => options.report(error),
    });
    this.#unwatch = options.store.watch(duePrefix(options.kind), () => this.#loop.wake());
    this.#loop.wake();
  }

  /** Takes no more and aborts what only waits for somebody; resolves when all that runs has ended. */
  async drain(): Promise<void> {
    const looked = this.#loop.close();
    this.#unwatch();
    for (const id of this.#paused) this.#running.get(id)?.controller.abort();
    await looked;
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
  }

  /** Takes no more and aborts what runs; resolves when that has ended. */
  async close(): Promise<void> {
    const drained = this.drain();
    for (const { controller } of this.#running.values()) controller.abort();
    this.#isAborting = true;
    await drained;
  }

  /** Goes that may begin now. */
  get #room(): number {
    const { concurrency } = this.#options;
    return concurrency - this.#running.size + Math.min(this.#paused.size, concurrency);
  }

  #pause(id: string, isPaused: boolean): void {
    if (isPaused && this.#loop.isClosed) this.#running.get(id)?.controller.abort();
    const wasFull = this.#room <= 0;
    if (isPaused && this.#running.has(id)) this.#paused.add(id);
    else this.#paused.delete(id);
    if (wasFull && this.#room > 0) this.#loop.wake();
  }

  /** Starts what is due as far as there is room; returns how long there is nothing to do, in ms. */
  async #takeDue(): Promise<number> {
    const { store, clock, kind } = this.#options;
    const room = this.#room;
    if (room <= 0) return MAX_SLEEP_MS;
    const page = await store.list({ prefix: duePrefix(kind), limit: PAGE });
    const names = page.map(({ key }) => fromDueKey(key));
    const now = clock.now();
    // A go whose lease ran out may still be on its way out.
    const due = names.filter(({ at, id }) => at <= now && !this.#running.has(id));
    const taken = await this.#takeAll(due.slice(0, room));
    if (this.#loop.isClosed) return MAX_SLEEP_MS;
    const next = names.find(({ at }) => at > now);
    if (due.length > room) return taken < room ? SLEEP_AGAIN_MS : MAX_SLEEP_MS;
    if (next) return Math.max(0, next.at - clock.now());
    return page.length < PAGE ? MAX_SLEEP_MS : SLEEP_AGAIN_MS;
  }

  /** All at once, so that they share a write of the store; returns how many were not somebody else's. */
  async #takeAll(due: readonly { at: number; id: string }[]): Promise<number> {
    const claims = await Promise.allSettled(
      due.map(async ({ at, id }) => {
        const job = await this.#claim(id, at);
        if (job) this.#start(job);
        return job !== undefined;
      }),
    );
    const failed = claims.find((claim) => claim.status === 'rejected');
    if (failed) throw failed.reason;
    return claims.filter((claim) => claim.status === 'fulfilled' && claim.value).length;
  }

  /** Undefined when another process was faster. */
  async #claim(id: string, at: number): Promise<StoredJob | undefined> {
    const { store, clock, kind, nextOwner } = this.#options;
    const entry = await store.get<JobRow>(jobKey(kind, id));
    if (!entry || entry.value.at !== at) return undefined;
    const { attempt, failures, payload } = entry.value;
    const row: JobRow = {
      at: clock.now() + LEASE_MS,
      attempt: attempt + 1,
      failures: failures + 1,
      owner: nextOwner(),
      payload,
    };
    const seen: StoredJob = { kind, id, row: entry.value, version: entry.version };
    const result = await store.commit(toChangeOps(seen, row));
    return result.ok ? { kind, id, row, version: result.version } : undefined;
  }

  #start(job: StoredJob): void {
    const controller = new AbortController();
    if (this.#isAborting) controller.abort();
    const done = this.#run(job, controller).finally(() => {
      this.#running.delete(job.id);
      this.#paused.delete(job.id);
      this.#loop.wake();
    });
    this.#running.set(job.id, { controller, done });
  }

  async #run(stored: StoredJob, controller: AbortController): Promise<void> {
    const { store, clock, handler, report } = this.#options;
    const { kind, id, row } = stored;
    const job: Job = { kind, id, payload: row.payload };
    const hold = new JobHold({ store, clock, job: stored, onLost: () => controller.abort() });
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
      });
      next = afterResult(hold.row, result, clock.now());
      if (typeof result === 'object' && 'doneIf' in result) checks = result.doneIf;
    } catch (error) {
      // One that was called off did not fail, and others may take it at once.
      if (!signal.aborted) report(error, job);
      next = signal.aborted
        ? { ...hold.row, failures: failures - 1, owner: null, at: clock.now() }
        : { ...hold.row, failures, owner: null, at: clock.now() + backoffMs(failures) };
    }
    try {
      const isEnded = await hold.end(next, checks);
      if (!isEnded && checks.length > 0)
        await hold.end(afterResult(hold.row, { againInMs: 0 }, clock.now()));
    } catch (error) {
      // The lease runs out, and the job is done once more.
      report(error, job);
    }
  }
}

function afterResult(row: JobRow, result: JobResult, now: number): JobRow | undefined {
  if (result === 'done' || 'doneIf' in result) return undefined;
  const { againInMs, payload = row.payload } = result;
  const at = now + Math.max(0, Math.ceil(againInMs));
  return { ...row, failures: 0, owner: null, at, payload };
}

function backoffMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
}
