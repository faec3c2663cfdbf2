import type { Op, Value, Version } from '../store/store.ts';

/** Work that survives the process: kept in the store until its handler says that it is done. */
export interface Job {
  /** Name of its handler: `interaction-poll`, `video-poll` … */
  readonly kind: string;
  /** Unique within the kind; a second job of the same name is the same job. */
  readonly id: string;
  readonly payload: Value;
  /** Shares the room of the kind with other holders: an organization. Default: the job shares with none. */
  readonly holder?: string | undefined;
}

/** Result of one attempt of a handler. */
export type JobResult =
  | 'done'
  /** Milliseconds until it is tried again, with its input for that (default: the same). */
  | { readonly againInMs: number; readonly payload?: Value }
  /** Done if these checks hold in the very commit that drops the job; else again at once. */
  | { readonly doneIf: readonly Op[] }
  /** Done by a commit of the handler's own, with the operations of `JobRun.toEnd`. */
  | 'ended';

export interface JobRun {
  readonly job: Job;
  /**
   * Number of attempts so far, this one included; those that ended in an exception or a dead
   * process count, too.
   */
  readonly attempt: number;
  /** Consecutive attempts before this one that ended in an exception or a dead process. */
  readonly failures: number;
  /** Aborted when the lease is lost or the process stops: stop, another process continues. */
  readonly signal: AbortSignal;
  /**
   * Pauses the run, or resumes it: meanwhile another one may begin instead. At most as many are paused at once
   * as may run.
   */
  readonly pause?: (isPaused: boolean) => void;
  /**
   * Sets the number of failures that still count: of a job with several steps, those of the current step. An
   * exception means again with the backoff of so many and this one.
   */
  readonly forgive?: (failures: number) => void;
  /**
   * Operations that drop the job, for the commit with which its work ends. They conflict when the lease
   * is lost, and when it is renewed before that commit: then ask again.
   */
  readonly toEnd?: () => readonly Op[];
}

/** A go that begins with the commit that calls for it. */
export interface Start {
  readonly ops: readonly Op[];
  /**
   * Call after that commit, whatever came of it: the go begins if the job is this process's.
   *
   * @param version of a commit that was done; without it the job is read to learn whether it was
   */
  settle(version?: Version): void;
}

/**
 * Does one go. Runs at most once at a time over all processes while its lease is renewed, but may run
 * again from the start after a crash: it must be idempotent. An exception means again, with backoff.
 */
export type JobHandler = (run: JobRun) => Promise<JobResult>;

/** Leased durable work, done by whichever process finds it due (design: Layout, jobs). */
export interface Jobs {
  /** Operations that add a job together with its subject; an existing one of that name conflicts. */
  toAdd(job: Job, options?: { inMs?: number }): Op[];
  /** Durable when it resolves; false when a job of that name exists. Rejects with `StoreError`. */
  add(job: Job, options?: { inMs?: number }): Promise<boolean>;
  /**
   * Operations that see to it that a go begins after their commit, or that the one under way cannot
   * end with `doneIf` without noticing what else the commit changes: they add the job, bring it forward
   * when it waits, or hold on to it while it runs. They conflict when the job moves on before the
   * commit: then ask again. Rejects with `StoreError`.
   */
  toWake(job: Job): Promise<Op[]>;
  /**
   * Operations as of {@link toWake}; a job that is added and finds room in this process is claimed for it in
   * the same commit, and begins without a look at due ones. Rejects with `StoreError`.
   */
  toStart(job: Job): Promise<Start>;
  /** Jobs by kind that were due and found no room in this process; see `JobWorker.waiting`. */
  waiting(): ReadonlyMap<string, number>;
  /** Drops a job that is no longer needed. Rejects with `StoreError`. */
  remove(kind: string, id: string): Promise<void>;
  /** Takes work from now on. */
  start(handlers: ReadonlyMap<string, JobHandler>): void;
  /**
   * Takes no further jobs; resolves when none runs, or after so many milliseconds. Paused ones are left to
   * other processes at once.
   */
  drain(ms: number): Promise<void>;
  /** Takes no further jobs, aborts running ones and waits for them. Idempotent. */
  close(): Promise<void>;
}
