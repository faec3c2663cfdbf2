import type { Budget } from '../budgets/budget.ts';
import type { Estimate, LedgerEntry, RequestOutcome } from './ledger.ts';

/** Wraps an entry; its end is reported to an observer first. */
export class ObservedEntry implements LedgerEntry {
  readonly #entry: LedgerEntry;
  readonly #onSettle: (outcome: RequestOutcome) => void;
  #isSettled = false;

  /** `onSettle` is called once, when the entry has been settled. */
  constructor(entry: LedgerEntry, onSettle: (outcome: RequestOutcome) => void) {
    this.#entry = entry;
    this.#onSettle = onSettle;
  }

  get admitted(): Promise<void> | undefined {
    return this.#entry.admitted;
  }

  get durable(): Promise<void> {
    return this.#entry.durable;
  }

  get isDurable(): boolean {
    return this.#entry.isDurable;
  }

  get settled(): Promise<void> | undefined {
    return this.#entry.settled;
  }

  get refusedBy(): Budget | undefined {
    return this.#entry.refusedBy;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  follow(soFar: () => Estimate): void {
    this.#entry.follow(soFar);
  }

  settle(outcome: RequestOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#entry.settle(outcome);
    this.#onSettle(outcome);
  }
}
