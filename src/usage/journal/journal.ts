import { GatewayError } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Key } from '../../store/store.ts';
import { EncodedValue } from '../../store/value-codec.ts';
import type { Claim } from '../rates/claims.ts';
import { createDeferred } from '../ledger/ledger-call.ts';
import type { Batch, Deferred, Job } from '../ledger/ledger-call.ts';
import { toBeginLine, toClaimLine, toEndLine } from './journal-line.ts';
import { LineBuffer } from './line-buffer.ts';
import { Segments } from './segments.ts';

/**
 * Point at which a line of the journal counts as kept (config: `server.ledger_sync`): in the page cache,
 * there and soon on the disk, or on the disk.
 */
export type LedgerSync = 'process' | 'group' | 'call';

export interface JournalOptions {
  readonly clock: Clock;
  /** Folder of the segments. */
  readonly folder: string;
  readonly worker: string;
  /** Null: `group` for calls with a spending limit, `process` for the others. */
  readonly sync: LedgerSync | null;
  /** True while this process surely is the only one on the store. */
  readonly isSole: () => boolean;
  /** True while others on the store surely know this process for alive. */
  readonly isKnown: () => boolean;
  /** The journal could not keep these; the store has to, at once, and decides them again. */
  readonly onUnkept: (jobs: readonly Job[]) => void;
  readonly report: (error: unknown) => void;
}

/** Jobs whose lines go to the disk by one write. */
interface Turn {
  readonly jobs: Job[];
  readonly batches: Set<Batch>;
  readonly kept: Deferred;
  isLimited: boolean;
  /** Money or a slot of a rate was taken that others may decide. */
  isShared: boolean;
  /** A slot of a rate was taken. */
  hasClaims: boolean;
  /** The waiting callers got the failure. */
  isRefused: boolean;
}

/** Most bytes that the journal keeps until it is folded into the store. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Size from which on it is folded at once. */
const FOLD_BYTES = 8 * 1024 * 1024;
/** Between two syncs of `group`, in ms. */
const GROUP_MS = 10;
/** A disk that refused a write is tried again after so many milliseconds. */
const RETRY_MS = 1_000;

/**
 * Keeps the operations of one worker's ledger until they are stored: the lines of one tick are one frame, and
 * one write.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #lines = new LineBuffer();
  readonly #segments: Segments;
  #next = 1;
  #turn: Turn | undefined;
  #retryAt = -Infinity;
  #isSyncDue = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#segments = new Segments(options);
  }

  /** False while the lease may have expired for others, the disk refuses writes or too much is not folded. */
  get isOpen(): boolean {
    const { isKnown, clock } = this.#options;
    if (this.#retryAt > 0 && clock.monotonic() < this.#retryAt) return false;
    return this.#segments.size < MAX_BYTES && isKnown();
  }

  /** True while it is open and takes changes of limits, too: no other worker decides any. */
  get isSole(): boolean {
    return this.#options.isSole() && this.isOpen;
  }

  /** True when it is time to fold, by what the files hold. */
  get isFull(): boolean {
    return this.#segments.size > FOLD_BYTES;
  }

  /** Appends the line of a job, which goes with the next write. */
  append(job: Job): void {
    const { call, type } = job;
    const { ended } = call;
    job.number = this.#next;
    if (type === 'begin') {
      this.#next++;
      this.#lines.add(toBeginLine(call));
    } else if (ended && !(ended.record instanceof EncodedValue)) {
      this.#next++;
      const record = this.#lines.addParts(...toEndLine(call, ended.record));
      // Bytes are enough from here on: objects that live on are copied again and again.
      ended.record = new EncodedValue(record);
    }
  }

  /**
   * Appends a claim, which is written in the same tick, so that a takeover sees it; returns the number of its
   * line.
   */
  claim(window: Key, { caller, at, slice }: Omit<Claim, 'number'>): number {
    const turn = (this.#turn ??= this.#begin());
    turn.hasClaims = true;
    turn.isShared ||= slice === undefined;
    this.#lines.add(toClaimLine(window, { caller, at }));
    return this.#next++;
  }

  /** Confirms the job when its line is kept; returns a promise that resolves then, or when it is stored. */
  keep(job: Job, batch: Batch): Promise<void> {
    const turn = (this.#turn ??= this.#begin());
    turn.jobs.push(job);
    turn.batches.add(batch);
    turn.isLimited ||= job.call.settled !== undefined;
    turn.isShared ||= job.call.settled !== undefined && job.call.sliceTerm === 0;
    return turn.kept.promise;
  }

  /** Ends the present file. */
  rotate(): void {
    this.#segments.rotate();
  }

  /** The store has all lines up to this number. */
  folded(number: number): void {
    this.#segments.folded(number);
  }

  #begin(): Turn {
    setImmediate(() => this.endTurn());
    const kept = createDeferred();
    return {
      jobs: [],
      batches: new Set(),
      kept,
      isLimited: false,
      isShared: false,
      hasClaims: false,
      isRefused: false,
    };
  }

  /** Writes the lines of this tick, or leaves them to the store. */
  endTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (!turn) return;
    const { sync, isSole, isKnown } = this.#options;
    const isInTime = turn.isShared ? isSole : isKnown;
    if (!isInTime()) return this.#tooLate(turn);
    if (!this.#write()) return this.#leaveToStore(turn);
    // Written in the last moment of a lease, it could come too late for a takeover.
    if (!isInTime()) return this.#tooLate(turn);
    this.#tellKept(turn, sync ?? (turn.isLimited ? 'group' : 'process'));
  }

  /** Confirms the jobs as soon as the lines of a tick count as kept. */
  #tellKept(turn: Turn, sync: LedgerSync): void {
    if (sync === 'process' || turn.jobs.length === 0) return tell(turn);
    if (sync === 'group') {
      this.#syncSoon();
      return tell(turn);
    }
    this.#segments.sync().then(
      () => tell(turn),
      (error: unknown) => this.#refused(error, turn),
    );
  }

  /** Syncs the lines written within {@link GROUP_MS} at once. */
  #syncSoon(): void {
    if (this.#isSyncDue) return;
    this.#isSyncDue = true;
    const { clock, report } = this.#options;
    clock.setTimeout(() => {
      this.#isSyncDue = false;
      this.#segments.sync().catch(report);
    }, GROUP_MS);
  }

  #write(): boolean {
    const { count } = this.#lines;
    if (count === 0) return true;
    try {
      this.#segments.write(this.#next - count, this.#lines.take());
      return true;
    } catch (error) {
      this.#retryAt = this.#options.clock.monotonic() + RETRY_MS;
      this.#options.report(error);
      return false;
    }
  }

  #refused(error: unknown, turn: Turn): void {
    this.#options.report(error);
    this.#leaveToStore(turn);
  }

  /** Others may have granted the same meanwhile: money is decided again, a rate is not. */
  #tooLate(turn: Turn): void {
    this.#lines.take();
    if (turn.hasClaims) {
      turn.isRefused = true;
      const error = new GatewayError('persistence_failed');
      for (const { type, call } of turn.jobs) if (type === 'begin') call.admitted?.reject(error);
      turn.kept.reject(error);
    }
    this.#leaveToStore(turn);
  }

  #leaveToStore(turn: Turn): void {
    const stored = Array.from(turn.batches, ({ durable }) => durable.promise);
    Promise.all(stored).then(
      () => tell(turn),
      (error: unknown) => {
        for (const { type, call } of turn.jobs) if (type === 'begin') call.admitted?.reject(error);
        turn.kept.reject(error);
      },
    );
    this.#options.onUnkept(turn.jobs);
  }
}

function tell({ jobs, kept, isRefused }: Turn): void {
  for (const { type, call } of jobs) {
    if (type === 'begin') {
      call.isKept = !isRefused;
      call.admitted?.resolve();
    } else call.settled?.resolve();
  }
  kept.resolve();
}
