import type { Clock } from '../../core/time/clock.ts';
import { createBatch } from './ledger-call.ts';
import type { Batch, Job, LedgerCall } from './ledger-call.ts';
import { scopeName } from './ledger-keys.ts';
import type { Claim, ClaimWindow } from '../rates/claims.ts';
import type { PendingClaim } from '../rates/pending-claim.ts';

/**
 * Operations per commit, of the 1,000 that the store takes: planning and encoding more of them at once
 * would hold up the event loop, while fewer share what each commit costs.
 */
const MAX_WEIGHT = 500;
/** Reservation and part of the flight, in addition to the counters of a begin that has limits. */
const OPEN = 2;
/** The record, the reservation and the flight; of a call that is over in the commit that begins it the record. */
const ENDED = { later: 3, atOnce: 1 };
/** Weight of each of {@link rowsOf}: sums and facets, counters of key and organization; sums and day row. */
const WEIGHT_OF_ROW = 4;
/** Key and organization, whose counters count with the sums of a call. */
const OWNERS = 2;
/** Content of a record, in characters, that weighs as much as an operation. */
const CONTENT_PER_OPERATION = 16 * 1024;
/** The head of a window, its earlier entries, its new entry and the slots set aside. */
const WEIGHT_OF_CLAIMS = 4;
/** Time in ms for which jobs without a waiting caller are grouped, and the number of them that is enough. */
const LATER_MS = 5;
const MAX_LATER = 100;

/** The jobs of a ledger that wait for their commit, in the batches that will be committed. */
export class JobQueue {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #batches: Batch[] = [];
  #jobs = 0;
  #later: Job[] = [];
  #timer = false;

  /** `onDue` is called when jobs that were added for later have joined the queue. */
  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Batches; jobs for later do not count. */
  get length(): number {
    return this.#batches.length;
  }

  /** Jobs of all batches and claims that they decide, and jobs for later. */
  get jobs(): number {
    return this.#jobs + this.#later.length;
  }

  /** The batch that the next job becomes part of, if it has room. */
  get last(): Batch | undefined {
    return this.#batches.at(-1);
  }

  /** Appends a job; returns the batch that it became part of. */
  add(job: Job): Batch {
    const { type, call, number } = job;
    const batch = type === 'begin' ? this.#begin(call) : this.#settle(call);
    batch.jobs.push(job);
    this.#jobs++;
    batch.last = Math.max(batch.last, number);
    return batch;
  }

  #begin(call: LedgerCall): Batch {
    const weight = weightOfBegin(call);
    const batch = this.#batchFor(weight);
    batch.weight += weight;
    call.batch = batch;
    return batch;
  }

  #settle(call: LedgerCall): Batch {
    const rows = rowsOf(call);
    const content = Math.floor((call.ended?.content ?? 0) / CONTENT_PER_OPERATION);
    const batch = this.#batchFor(ENDED.later + rows.length * WEIGHT_OF_ROW + content);
    const known = batch.rows.size;
    for (const row of rows) batch.rows.add(row);
    const isWhole = call.batch === batch;
    if (isWhole) batch.weight -= weightOfBegin(call);
    batch.weight += isWhole ? ENDED.atOnce : ENDED.later;
    batch.weight += (batch.rows.size - known) * WEIGHT_OF_ROW + content;
    return batch;
  }

  addClaim(window: ClaimWindow, claim: Claim): void {
    const batch = this.#batchOf(window);
    const claims = batch.claims.get(window);
    if (claims) claims.push(claim);
    else batch.claims.set(window, [claim]);
    batch.last = Math.max(batch.last, claim.number);
  }

  /** Appends a claim that the commit decides. */
  ask(claim: PendingClaim): void {
    this.#batchOf(claim.window).asked.push(claim);
    this.#jobs++;
  }

  /** The batch that the next claim in a window becomes part of. */
  #batchOf(window: ClaimWindow): Batch {
    const last = this.#batches.at(-1);
    if (last?.windows.has(window)) return last;
    const batch = this.#batchFor(WEIGHT_OF_CLAIMS);
    batch.weight += WEIGHT_OF_CLAIMS;
    batch.windows.add(window);
    return batch;
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
    const batch = this.#batches.shift();
    if (batch) this.#jobs -= countOf(batch);
    return batch;
  }

  unshift(batches: readonly Batch[]): void {
    this.#batches.unshift(...batches);
    for (const batch of batches) this.#jobs += countOf(batch);
  }

  /** Empties the queue but for the jobs for later. */
  takeAll(): Batch[] {
    const batches = this.#batches;
    this.#batches = [];
    this.#jobs = 0;
    return batches;
  }
}

const countOf = ({ jobs, asked }: Batch): number => jobs.length + asked.length;

const weightOfBegin = ({ payers }: LedgerCall): number =>
  payers.reduce((weight, { limits }) => (limits ? weight + 1 : weight), OPEN);

/** Names of rows that the end of a call adds to, most of them together with other calls. */
function rowsOf({ payers, ended }: LedgerCall): string[] {
  if (!ended) return [];
  const rows = [ended.facts.row];
  for (const { row } of ended.parts) rows.push(row);
  if (payers.length > OWNERS) for (const { scope } of payers) rows.push(scopeName(scope));
  return rows;
}
