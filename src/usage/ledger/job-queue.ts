import type { Clock } from '../../core/time/clock.ts';
import { createBatch } from './ledger-call.ts';
import type { Batch, Job } from './ledger-call.ts';

/** Operations per commit; the store takes 1,000. */
const MAX_WEIGHT = 950;
/** A begin: reservation, two counters. A settle: these, the record, its flight and the totals. */
const WEIGHT = { begin: 3, settle: 6 };
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

  /** Appends a job; returns the batch that it became part of. */
  add(job: Job): Batch {
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.weight + WEIGHT[job.type] > MAX_WEIGHT) {
      batch = createBatch();
      this.#batches.push(batch);
    }
    batch.jobs.push(job);
    batch.weight += WEIGHT[job.type];
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
