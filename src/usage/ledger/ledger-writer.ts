import type { Clock } from '../../core/time/clock.ts';
import { fold } from './fold.ts';
import { FoldSchedule } from './fold-schedule.ts';
import { JobQueue } from './job-queue.ts';
import { JournalSchedule } from './journal-schedule.ts';
import { limitedScopes } from '../spend/payer.ts';
import { hasOpenClaims } from '../rates/pending-claim.ts';
import { createBatch, createDeferred, createJob, halvesOf } from './ledger-call.ts';
import type { Batch, Deferred, Job, LedgerCall } from './ledger-call.ts';
import type { Estimate } from './ledger.ts';
import { isRefused, LedgerCommitter } from './ledger-committer.ts';
import type { LedgerCommitterOptions } from './ledger-committer.ts';
import { addPending, decideNow, planJobs, removePending } from './ledger-plan.ts';
import type { PlannedWork } from './ledger-plan.ts';
import { rejectBegins } from './reject-begins.ts';
import { claimedAfter } from '../rates/claims.ts';
import type { PendingClaim } from '../rates/pending-claim.ts';
import { ELSEWHERE } from './flights.ts';
import type { Journal } from '../journal/journal.ts';

/** Jobs that may wait; with more of them, new requests are refused. */
const MAX_WAITING = 50_000;
const HEAL_MS = 1_000;
/**
 * Commits of claims by themselves after others were faster with the same window: calls that are planned with
 * them would be planned again each time. Then they are tried together again.
 */
const CLAIMS_APART = 16;

export interface LedgerWriterOptions extends LedgerCommitterOptions {
  readonly clock: Clock;
  /** Receives the errors that made the ledger fail, and those of records that no store would take. */
  readonly report: (error: unknown) => void;
  /** Wait before a commit; undefined: none. Default: never anything. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
}

/**
 * Commits jobs in order, one commit at a time: what the journal keeps a few times a second, everything
 * else of one event-loop turn at once.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #committer: LedgerCommitter;
  readonly #queue: JobQueue;
  readonly #folds: FoldSchedule;
  readonly #journalFolds: JournalSchedule;
  readonly #drains: Deferred[] = [];
  #journal: Journal | undefined;
  #underWay: Batch | undefined;
  #running = false;
  #scheduled = false;
  #failing = false;
  /** Batches at the head of the queue that are to be committed now. */
  #due = 0;
  /** Jobs that are not in the journal and not yet in the store. */
  #direct = 0;
  #claimsApart = 0;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#committer = new LedgerCommitter(options);
    this.#queue = new JobQueue(options.clock, () => this.#start());
    this.#folds = new FoldSchedule({ ...options, onDue: () => void this.#run() });
    this.#journalFolds = new JournalSchedule({ ...options, onDue: () => this.commitNow() });
  }

  /** Keeps jobs in a journal from now on, whenever it is open. */
  attach(journal: Journal): void {
    this.#journal = journal;
  }

  /** False while the store is known to fail, or has too many waiting jobs. */
  get accepting(): boolean {
    return !this.#failing && this.#queue.jobs < MAX_WAITING;
  }

  /** Jobs that no commit has taken yet. */
  get waiting(): number {
    return this.#queue.jobs;
  }

  /** The journal takes jobs: nothing is under way that it does not know of. */
  get isJournaling(): boolean {
    return this.#direct === 0 && !this.#failing && this.#journal?.isSole === true;
  }

  /** Keeps or commits the job as soon as possible; resolves when that is done. */
  push(type: Job['type'], call: LedgerCall): Promise<void> {
    const job = createJob(type, call);
    const kept = this.#keep(job);
    if (kept) return kept;
    // The base of a decision about a limit should hold all that has ended.
    if (call.settled) this.#queue.joinLater();
    this.#addDirect(job);
    const batch = this.#queue.add(job);
    if (this.#failing && type === 'settle') call.settled?.resolve();
    this.#start();
    return batch.durable.promise;
  }

  /** Commits an end without a waiting caller together with others, a few milliseconds later. */
  pushLater(call: LedgerCall): void {
    const job = createJob('settle', call);
    if (this.#keep(job)) return;
    this.#addDirect(job);
    if (this.#drains.length === 0) return this.#queue.addLater(job);
    this.#queue.add(job);
    this.#start();
  }

  /** Number of the last line of the journal that the store is known to hold. */
  get folded(): number {
    return this.#committer.folded;
  }

  /** Takes a claim whose line is in the journal. */
  addClaim: JobQueue['addClaim'] = (window, claim) => {
    this.#queue.addClaim(window, claim);
    this.#journalFolds.plan(this.#journal);
  };

  /** Lets the next commit decide about a claim, with what else it holds. */
  ask(claim: PendingClaim): void {
    this.#queue.ask(claim);
    this.#start();
  }

  /** Commits jobs that the journal did not keep; the store decides them again. */
  takeBack(jobs: readonly Job[]): void {
    const { state } = this.#options;
    for (const job of jobs) {
      state.slices.leave(job.call);
      if (job.isPending) removePending(state, this.#addDirect(job));
    }
    this.commitNow();
  }

  #addDirect(job: Job): Job {
    job.isDirect = true;
    this.#direct++;
    return job;
  }

  /** Stores the cost of the call so far every few seconds, together with the fold. */
  follow(call: LedgerCall, soFar: () => Estimate): void {
    this.#options.state.followed.add(call, soFar);
    this.#folds.follow();
  }

  /** Gives up what slices hold that no call uses. */
  giveUp(): void {
    this.#folds.ask();
    this.commitNow();
  }

  /** True when the store holds all that was pushed before, false when it is known to fail. */
  async fold(): Promise<boolean> {
    if (this.#failing) return false;
    this.#queue.joinLater();
    const batch = this.#queue.last ?? this.#underWay;
    if (!batch) return true;
    this.commitNow();
    return batch.durable.promise.then(
      () => true,
      () => false,
    );
  }

  /** Resolves when all jobs are durable and the counters have everything. */
  drain(): Promise<void> {
    const drained = createDeferred();
    this.#drains.push(drained);
    this.#queue.joinLater();
    this.#folds.ask();
    this.commitNow();
    return drained.promise;
  }

  /** Everything that waits is to be committed now. */
  commitNow(): void {
    this.#due = this.#queue.length;
    void this.#run();
  }

  /** Undefined for a job that the store has to take at once. */
  #keep(job: Job): Promise<void> | undefined {
    const { call, type } = job;
    const { state } = this.#options;
    const journal = this.#journal;
    if (!journal?.isOpen) return undefined;
    if (call.settled && !journal.isSole) {
      // Others have to see at once what a limit holds and gives back, but for what lies in slices.
      if (!(type === 'begin' ? state.slices.take(call) : state.slices.takeEnd(call)))
        return undefined;
    } else if (type === 'begin' && !this.#decide(call)) return undefined;
    if (type === 'begin' && call.refusal) return Promise.resolve();
    journal.append(job);
    addPending(state, job);
    const batch = this.#queue.add(job);
    this.#journalFolds.add(journal);
    return journal.keep(job, batch);
  }

  /** True when the counters of this worker decide whether the call is admitted. */
  #decide(call: LedgerCall): boolean {
    if (hasOpenClaims(call.start)) return false;
    if (!call.admitted) return true;
    if (!this.isJournaling) return false;
    if (!decideNow(this.#options.state, call)) return false;
    if (call.refusal) call.admitted.reject(call.refusal);
    return true;
  }

  #start(): void {
    if (this.#scheduled || this.#failing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.commitNow();
    });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#journalFolds.begun();
    this.#journal?.rotate();
    while (this.#hasWork()) await this.#step();
    this.#running = false;
    if (this.#failing) return;
    const isEmpty = this.#queue.length === 0;
    if (isEmpty) this.#journal?.rotate();
    this.#journal?.folded(this.folded);
    if (isEmpty) for (const drained of this.#drains.splice(0)) drained.resolve();
  }

  /** Judged in the same tick in which the loop ends: a later job starts it again. */
  #hasWork(): boolean {
    if (this.#failing) return false;
    if (this.#drains.length > 0) this.#due = this.#queue.length;
    return this.#folds.isDue || this.#due > 0;
  }

  async #step(): Promise<void> {
    if (this.#folds.isDue) {
      await this.#fold().catch((error: unknown) => this.#fail(createBatch(), error));
      return;
    }
    // No decision is stored before the journal keeps it.
    this.#journal?.endTurn();
    this.#due--;
    const batch = this.#queue.shift();
    if (batch === undefined) return;
    const { asked, claims } = batch;
    const isApart = this.#claimsApart > 0 && asked.length > 0 && claims.size === 0;
    if (isApart && this.#split(batch)) return;
    this.#underWay = batch;
    await this.#commit(batch).catch((error: unknown) => {
      if (isRefused(error)) this.#isolate(batch, error);
      else this.#fail(batch, error);
    });
    this.#underWay = undefined;
  }

  async #commit(batch: Batch): Promise<void> {
    const { state } = this.#options;
    const rest = (): PlannedWork => this.#withoutStored(batch);
    await this.#options.ready?.();
    const tries = await this.#committer.commit({
      last: batch.last,
      ending: () => rest().jobs.flatMap(({ type, call }) => (type === 'settle' ? [call] : [])),
      scopes: () => rest().jobs.flatMap(({ call }) => limitedScopes(call)),
      windows: () => batch.windows,
      plan: () => planJobs(state, rest()),
    });
    if (batch.asked.length > 0)
      this.#claimsApart = tries > 1 ? CLAIMS_APART : Math.max(0, this.#claimsApart - 1);
    for (const claim of batch.asked) claim.settle();
    for (const job of batch.jobs) {
      this.#leave(job);
      const { type, call } = job;
      if (type === 'settle') call.settled?.resolve();
      else if (call.refusal) call.admitted?.reject(call.refusal);
      else call.admitted?.resolve();
    }
    batch.durable.resolve();
    state.sums.trim();
    this.#folds.plan(this.#drains.length > 0);
  }

  /** The part of a batch that is not stored; another worker may have stored the rest from the journal. */
  #withoutStored(batch: Batch): PlannedWork {
    const { folded } = this.#committer;
    const over: LedgerCall[] = [];
    const jobs = batch.jobs.filter(({ type, call, number }) => {
      const isStored = number > 0 && number <= folded;
      if (isStored && type === 'begin') call.flight ??= ELSEWHERE;
      if (isStored && type === 'settle' && !call.done) over.push(call);
      return !isStored && !call.done;
    });
    return { jobs, claims: claimedAfter(folded, batch.claims), asked: batch.asked, over };
  }

  /** Ends the wait of a job. */
  #leave(job: Job): void {
    const { state } = this.#options;
    removePending(state, job);
    // One that began may hold slices for its end already.
    if (job.type === 'settle' || job.call.hold === undefined) state.slices.leave(job.call);
    if (job.isDirect) this.#direct--;
    job.call.batch = undefined;
  }

  async #fold(): Promise<void> {
    this.#folds.begun();
    try {
      const isMore = await fold(this.#committer, this.#options.state);
      this.#folds.plan(isMore || this.#drains.length > 0);
    } catch (error) {
      if (!isRefused(error)) throw error;
      // All of it stays in rows that count as well; calls continue.
      this.#options.report(error);
      this.#folds.later();
    }
  }

  /** Puts a batch back in two; false where it holds only one thing. */
  #split(batch: Batch): boolean {
    const halves = halvesOf(batch);
    if (halves.length === 0) return false;
    this.#queue.unshift(halves);
    this.#due += halves.length;
    void Promise.all(halves.map(({ durable }) => durable.promise)).then(
      () => batch.durable.resolve(),
      (reason: unknown) => batch.durable.reject(reason),
    );
    return true;
  }

  /** One job that no store takes must not hold up its neighbours. */
  #isolate(batch: Batch, error: unknown): void {
    if (this.#split(batch)) return;
    this.#options.report(error);
    rejectBegins(batch, error);
    for (const job of batch.jobs) {
      this.#leave(job);
      if (job.type !== 'settle') continue;
      job.call.done = true;
      job.call.settled?.resolve();
    }
  }

  /** No call begins until the store recovers; ended and kept calls wait for it. */
  #fail(batch: Batch, error: unknown): void {
    this.#failing = true;
    this.#due = 0;
    this.#options.report(error);
    const waiting = [batch, ...this.#queue.takeAll()];
    this.#queue.unshift(waiting.flatMap((each) => this.#keepOf(each)));
    for (const each of waiting) rejectBegins(each, error);
    this.#scheduleHeal();
  }

  /** Remainder of a batch that was not stored. */
  #keepOf({ jobs, claims, last, weight }: Batch): Batch[] {
    const kept = jobs.filter((job) => {
      // No caller waits for an unavailable store: the reservation counts as the charge till then.
      if (job.type === 'settle') job.call.settled?.resolve();
      const stays = job.type === 'settle' || job.number > 0;
      if (!stays) this.#leave(job);
      return stays;
    });
    if (kept.length === 0 && claims.size === 0) return [];
    return [{ ...createBatch(kept, { claims, asked: [] }), last, weight }];
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
    this.#folds.ask();
    this.commitNow();
  }
}
