import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { JobQueue } from './job-queue.ts';
import { createBatch, createDeferred, limitedScopes } from './ledger-call.ts';
import type { Batch, Deferred, Job, LedgerCall } from './ledger-call.ts';
import type { Estimate } from './ledger.ts';
import { isRefused, LedgerCommitter } from './ledger-committer.ts';
import type { LedgerCommitterOptions } from './ledger-committer.ts';
import { planFold, planJobs } from './ledger-plan.ts';

/** Batches that may wait; a store that falls behind so far takes no more requests. */
const MAX_WAITING = 250;
const HEAL_MS = 1_000;
const FOLD_MS = 1_000;
/** Between two notes of what the calls cost so far that are followed. */
const FOLLOW_MS = 3_000;
/** Unfolded rows that make a fold due at once, and the most that one fold takes. */
const MAX_UNFOLDED = 256;
const MAX_TOTALS = 10_000;

interface LedgerJournalOptions extends LedgerCommitterOptions {
  readonly clock: Clock;
  /**
   * Receives the errors that made the ledger fail, and those of records that no store would take.
   */
  readonly report: (error: unknown) => void;
}

/** Commits jobs in order, everything of one event-loop turn at once and one commit at a time. */
export class LedgerJournal {
  readonly #options: LedgerJournalOptions;
  readonly #committer: LedgerCommitter;
  readonly #queue: JobQueue;
  readonly #drains: Deferred[] = [];
  #running = false;
  #scheduled = false;
  #failing = false;
  #foldDue = false;
  #foldTimer = false;
  #followTimer = false;

  constructor(options: LedgerJournalOptions) {
    this.#options = options;
    this.#committer = new LedgerCommitter(options);
    this.#queue = new JobQueue(options.clock, () => this.#start());
  }

  /** False while the store is known to fail, or when it has fallen far behind. */
  get accepting(): boolean {
    return !this.#failing && this.#queue.length < MAX_WAITING;
  }

  /** Jobs that no commit has taken yet. */
  get waiting(): number {
    return this.#queue.jobs;
  }

  /** Commits the job as soon as possible; returns the batch that it became part of. */
  push(job: Job): Batch {
    // The base of a decision about a limit should hold all that has ended.
    if (job.call.admitted) this.#queue.joinLater();
    const batch = this.#queue.add(job);
    if (this.#failing && job.type === 'settle') job.call.settled?.resolve();
    this.#start();
    return batch;
  }

  /** Commits the job with others that nobody waits for, a few milliseconds later. */
  pushLater(job: Job): void {
    if (this.#drains.length > 0) this.push(job);
    else this.#queue.addLater(job);
  }

  /** Stores what the call costs so far every few seconds, together with what is folded then. */
  follow(call: LedgerCall, soFar: () => Estimate): void {
    this.#options.state.followed.add(call, soFar);
    this.#scheduleFollow();
  }

  /** Resolves when all jobs are durable and the counters have everything. */
  drain(): Promise<void> {
    const drained = createDeferred();
    this.#drains.push(drained);
    this.#queue.joinLater();
    this.#foldDue = true;
    void this.#run();
    return drained.promise;
  }

  #start(): void {
    if (this.#running || this.#scheduled || this.#failing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#hasWork()) await this.#step();
    this.#running = false;
    if (this.#failing) return;
    for (const drained of this.#drains.splice(0)) drained.resolve();
  }

  /** Asked in the same breath as the loop ends: a job that comes a moment later starts it anew. */
  #hasWork(): boolean {
    if (this.#failing) return false;
    const { unfolded, followed } = this.#options.state;
    this.#foldDue &&= unfolded.size > 0 || followed.isDue;
    return this.#foldDue || this.#queue.length > 0;
  }

  async #step(): Promise<void> {
    if (this.#foldDue) {
      await this.#fold().catch((error: unknown) => this.#fail(createBatch(), error));
      return;
    }
    const batch = this.#queue.shift();
    if (batch === undefined) return;
    await this.#commit(batch).catch((error: unknown) => {
      if (isRefused(error)) this.#isolate(batch, error);
      else this.#fail(batch, error);
    });
  }

  async #commit(batch: Batch): Promise<void> {
    const { state } = this.#options;
    const jobs = (): Job[] => batch.jobs.filter(({ call }) => !call.done);
    await this.#committer.commit({
      ending: () => jobs().flatMap(({ type, call }) => (type === 'settle' ? [call] : [])),
      scopes: () => jobs().flatMap(({ call }) => limitedScopes(call)),
      plan: () => planJobs(state, jobs()),
    });
    for (const { type, call } of batch.jobs) {
      if (type === 'settle') call.settled?.resolve();
      else if (call.refusal) call.admitted?.reject(call.refusal);
      else call.admitted?.resolve();
    }
    batch.durable.resolve();
    if (state.totals.size > MAX_TOTALS) state.renewTotals();
    this.#scheduleFold();
  }

  async #fold(): Promise<void> {
    const { state } = this.#options;
    const { unfolded } = state;
    this.#foldDue = false;
    await this.#committer.commit({
      ending: () => [],
      scopes: () => unfolded.take(MAX_UNFOLDED).map(({ scope }) => scope),
      plan: () => planFold(state, unfolded.take(MAX_UNFOLDED)),
    });
    this.#scheduleFold();
  }

  #scheduleFold(): void {
    const { size } = this.#options.state.unfolded;
    if (size === 0) return;
    if (size > MAX_UNFOLDED || this.#drains.length > 0) this.#foldDue = true;
    if (this.#foldTimer) return;
    this.#foldTimer = true;
    this.#options.clock.setTimeout(() => {
      this.#foldTimer = false;
      this.#foldDue = true;
      void this.#run();
    }, FOLD_MS);
  }

  #scheduleFollow(): void {
    if (this.#followTimer) return;
    this.#followTimer = true;
    const { clock, state } = this.#options;
    clock.setTimeout(() => {
      this.#followTimer = false;
      // Rows left of calls that have all ended go with the next fold.
      if (state.followed.size === 0 && !state.followed.isDue) return;
      state.followed.elapsed();
      this.#foldDue = true;
      void this.#run();
      if (state.followed.size > 0) this.#scheduleFollow();
    }, FOLLOW_MS);
  }

  /** One job that no store takes must not hold up its neighbours. */
  #isolate(batch: Batch, error: unknown): void {
    if (batch.jobs.length > 1) {
      const singles = batch.jobs.map((job) => createBatch([job]));
      this.#queue.unshift(singles);
      void Promise.all(singles.map(({ durable }) => durable.promise)).then(
        () => batch.durable.resolve(),
        (reason: unknown) => batch.durable.reject(reason),
      );
      return;
    }
    this.#options.report(error);
    rejectBegins(batch, error);
    for (const { type, call } of batch.jobs) {
      if (type !== 'settle') continue;
      call.done = true;
      call.settled?.resolve();
    }
  }

  /** Nothing more is begun until the store is well again; what has ended waits for it. */
  #fail(batch: Batch, error: unknown): void {
    this.#failing = true;
    this.#options.report(error);
    const waiting = [batch, ...this.#queue.takeAll()];
    for (const { jobs } of waiting) {
      for (const job of jobs) {
        if (job.type !== 'settle') continue;
        this.#queue.add(job);
        // Nobody waits for a store that is away: the reservation stands for the charge till then.
        job.call.settled?.resolve();
      }
    }
    for (const each of waiting) rejectBegins(each, error);
    this.#scheduleHeal();
  }

  #scheduleHeal(): void {
    this.#options.clock.setTimeout(() => {
      this.#heal().catch(() => this.#scheduleHeal());
    }, HEAL_MS);
  }

  async #heal(): Promise<void> {
    await this.#options.store.ping();
    await this.#committer.reconcile();
    this.#failing = false;
    this.#foldDue = true;
    void this.#run();
  }
}

function rejectBegins(batch: Batch, cause: unknown): void {
  const error = new GatewayError('persistence_failed', { cause });
  for (const { type, call } of batch.jobs) if (type === 'begin') call.admitted?.reject(error);
  batch.durable.reject(error);
}
