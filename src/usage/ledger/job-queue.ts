import type { Clock } from '../../core/time/clock.ts';
import { createBatch } from './ledger-call.ts';
import type { Batch, Job } from './ledger-call.ts';
import type { Claim, ClaimWindow } from '../rates/claims.ts';

/** Operations per commit; the store takes 1,000. */
const MAX_WEIGHT = 950;
/** A begin: reservation, three counters. A settle: these, the record, its flight, three sums, their facets. */
const WEIGHT = { begin: 4, settle: 10 };
/** A call that is over in the commit that begins it: the record, three counters, three sums, their facets. */
const WHOLE_CALL = 8;
/** The head of a window, and what it accepted. */
const WEIGHT_OF_CLAIMS = 2;
/**
 * Time in ms for which jobs that nobody waits for gather company, and the number of them that is
 * enough.
 */
const LATER_MS = 5;
const MAX_LATER = 100;

/** The jobs of a ledger that wait for their commit, in the batches that will be committed. */
export class JobQueue {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #batches: Batch[] = [];
  #later: Job[] = [];
  #timer = false;

  /** `onDue` is told when jobs that were added for later have joined the queue. */
  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Batches; jobs for later do not count. */
  get length(): number {
    return this.#batches.length;
  }

  /** Jobs of all batches, and those for later. */
  get jobs(): number {
    return this.#batches.reduce((sum, { jobs }) => sum + jobs.length, this.#later.length);
  }

  /** The batch that the next job becomes part of, if it has room. */
  get last(): Batch | undefined {
    return this.#batches.at(-1);
  }

  /** Appends a job; returns the batch that it became part of. */
  add(job: Job): Batch {
    const { call, number } = job;
    const batch = this.#batchFor(WEIGHT[job.type]);
    const isWhole = job.type === 'settle' && call.batch === batch;
    if (job.type === 'begin') call.batch = batch;
    batch.jobs.push(job);
    batch.weight += isWhole ? WHOLE_CALL - WEIGHT.begin : WEIGHT[job.type];
    batch.last = Math.max(batch.last, number);
    return batch;
  }

  addClaim(window: ClaimWindow, claim: Claim): void {
    let batch = this.#batches.at(-1);
    const claims = batch?.claims.get(window);
    if (batch && claims) claims.push(claim);
    else {
      batch = this.#batchFor(WEIGHT_OF_CLAIMS);
      batch.weight += WEIGHT_OF_CLAIMS;
      batch.claims.set(window, [claim]);
    }
    batch.last = Math.max(batch.last, claim.number);
  }

  #batchFor(weight: number): Batch {
    const last = this.#batches.at(-1);
    if (last && last.weight + weight <= MAX_WEIGHT) return last;
    const batch = createBatch();
    this.#batches.push(batch);
    return batch;
  }

  /** Lets the job join the queue with others of its kind, within {@link LATER_MS}. */
  addLater(job: Job): void {
    this.#later.push(job);
    if (this.#later.length >= MAX_LATER) {
      this.joinLater();
      this.#onDue();
    } else if (!this.#timer) {
      this.#timer = true;
      this.#clock.setTimeout(() => {
        this.#timer = false;
        this.joinLater();
        this.#onDue();
      }, LATER_MS);
    }
  }

  /** Appends the jobs for later now. */
  joinLater(): void {
    for (const job of this.#later.splice(0)) this.add(job);
  }

  shift(): Batch | undefined {
    return this.#batches.shift();
  }

  unshift(batches: readonly Batch[]): void {
    this.#batches.unshift(...batches);
  }

  /** Empties the queue but for the jobs for later. */
  takeAll(): Batch[] {
    const batches = this.#batches;
    this.#batches = [];
    return batches;
  }
}
