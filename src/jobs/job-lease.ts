import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '../core/time/clock.ts';
import { toDeadline } from '../core/time/deadline.ts';
import type { Op, Store } from '../store/store.ts';
import { jobKey, toChangeOps } from './job-rows.ts';
import type { JobRow, StoredJob } from './job-rows.ts';

/** Time in ms for which no other process takes a silent job; a dead process's job is taken after that. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** Sooner, after a renewal that the store did not take. */
const RENEW_AGAIN_MS = 1_000;
/** The work is called off so long before others may take it. */
const MARGIN_MS = 5_000;
/** Own changes whose outcome the store left open can cause a conflict, at most so many. */
const MAX_TRIES = 5;

export interface JobLeaseOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Job as it was claimed. */
  readonly job: StoredJob;
  /** The lease is lost, or may be: the handler must stop. Called at most once. */
  readonly onLost: () => void;
}

/** Keeps a claimed job from others for as long as the work takes. */
export class JobLease {
  readonly #options: JobLeaseOptions;
  #job: StoredJob;
  #renewal: Timer | undefined;
  #deadline: Timer | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #over = false;

  constructor(options: JobLeaseOptions) {
    this.#options = options;
    this.#job = options.job;
    this.#extend();
  }

  get row(): JobRow {
    return this.#job.row;
  }

  /**
   * Gives the job back as `next` says, or drops it, if the checks hold. False when they do not, another process
   * has it or it was removed: then nothing was changed. Rejects with `StoreError`.
   */
  async end(next: JobRow | undefined, checks: readonly Op[] = []): Promise<boolean> {
    this.#stop();
    await this.#renewing;
    return this.#change(next, checks);
  }

  /** Operations that drop the job, if it is still as it was last seen. */
  toEnd(): Op[] {
    return toChangeOps(this.#job, undefined);
  }

  /** The job was dropped with {@link toEnd}. */
  ended(): void {
    this.#stop();
  }

  #extend(): void {
    const { clock } = this.#options;
    this.#deadline?.cancel();
    this.#deadline = clock.setTimeout(() => this.#lose(), LEASE_MS - MARGIN_MS);
    this.#renewIn(RENEW_MS);
  }

  #renewIn(ms: number): void {
    this.#renewal = this.#options.clock.setTimeout(() => {
      this.#renewing = this.#renew();
    }, ms);
  }

  async #renew(): Promise<void> {
    const at = toDeadline(this.#options.clock.now(), LEASE_MS);
    try {
      const isKept = await this.#change({ ...this.#job.row, at });
      if (this.#over) return;
      if (isKept) this.#extend();
      else this.#lose();
    } catch {
      // The deadline is kept: a store that stays unavailable ends the work in time.
      if (!this.#over) this.#renewIn(RENEW_AGAIN_MS);
    }
  }

  async #change(next: JobRow | undefined, checks: readonly Op[] = []): Promise<boolean> {
    const { store } = this.#options;
    const { kind, id } = this.#job;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const result = await store.commit([...toChangeOps(this.#job, next), ...checks]);
      if (result.ok) {
        if (next) this.#job = { kind, id, row: next, version: result.version };
        return true;
      }
      if (checks.some(({ key }) => isDeepStrictEqual(key, result.conflict))) return false;
      const entry = await store.get<JobRow>(jobKey(kind, id));
      if (!entry || entry.value.owner !== this.#job.row.owner) return false;
      this.#job = { kind, id, row: entry.value, version: entry.version };
    }
    return false;
  }

  #lose(): void {
    this.#stop();
    this.#options.onLost();
  }

  #stop(): void {
    this.#over = true;
    this.#renewal?.cancel();
    this.#deadline?.cancel();
  }
}
