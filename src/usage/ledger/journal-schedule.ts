import type { Clock } from '../../core/time/clock.ts';
import type { Journal } from '../journal/journal.ts';

/**
 * Time that jobs stay only in the journal, in ms: where this process reads for all, where others read the
 * store, and there after {@link MANY}, whose commits would take a tenth of the CPU.
 */
const JOURNAL_MS = { sole: 200, shared: 25, busy: 100 };
/** Jobs of one fold that are those of a busy process. */
const MANY = 32;
/** Jobs only in the journal that are enough. */
const MAX_JOURNALED = 4_000;

export interface JournalScheduleOptions {
  readonly clock: Clock;
  /** Callback when what the journal keeps is to be stored. */
  readonly onDue: () => void;
}

/** Times at which a worker stores what its journal keeps. */
export class JournalSchedule {
  readonly #options: JournalScheduleOptions;
  #count = 0;
  #isBusy = false;
  #timer = false;

  constructor(options: JournalScheduleOptions) {
    this.#options = options;
  }

  /** Counts a job that the journal keeps. */
  add(journal: Pick<Journal, 'isFull' | 'isSole'> | undefined): void {
    this.#count++;
    this.plan(journal);
  }

  /** Sees to what the journal keeps. */
  plan(journal: Pick<Journal, 'isFull' | 'isSole'> | undefined): void {
    const { clock, onDue } = this.#options;
    if (this.#count >= MAX_JOURNALED || journal?.isFull === true) return onDue();
    if (this.#timer) return;
    this.#timer = true;
    const others = this.#isBusy ? JOURNAL_MS.busy : JOURNAL_MS.shared;
    clock.setTimeout(
      () => {
        this.#timer = false;
        onDue();
      },
      journal?.isSole === true ? JOURNAL_MS.sole : others,
    );
  }

  /** Resets the count: a commit takes the jobs so far. */
  begun(): void {
    this.#isBusy = this.#count >= MANY;
    this.#count = 0;
  }
}
