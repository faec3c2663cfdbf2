import type { Op } from '../../store/store.ts';
import { sentKey } from '../ledger/ledger-keys.ts';
import type { LedgerCall } from '../ledger/ledger-call.ts';
import type { Estimate } from '../ledger/ledger.ts';

/** Calls per row. */
const PER_ROW = 500;

/** A row of `sent, worker, number`: the cost so far of calls that run for seconds. */
export type SentRow = readonly (readonly [
  id: string,
  input: number,
  output: number,
  cost: number,
])[];

/** Rows of one commit; nothing counts until `keep`. */
export interface FollowedDraft {
  readonly ops: Op[];
  keep(): void;
}

/**
 * Calls under way whose cost so far is stored now and then, for their recovery. An array whose gaps are filled
 * from its end: a `Set` that changes with every call is replaced by V8 again and again.
 */
export class FollowedCalls {
  readonly #worker: string;
  readonly #calls: LedgerCall[] = [];
  #isDue = false;
  #storedRows = 0;

  constructor(worker: string) {
    this.#worker = worker;
  }

  get size(): number {
    return this.#calls.length;
  }

  /** True when rows are to be written, or are left of calls that have all ended. */
  get isDue(): boolean {
    return this.#isDue || (this.#storedRows > 0 && this.#calls.length === 0);
  }

  add(call: LedgerCall, soFar: () => Estimate): void {
    if (call.soFar || call.ended) return;
    call.soFar = soFar;
    call.place = this.#calls.length;
    this.#calls.push(call);
  }

  delete(call: LedgerCall): void {
    if (!call.soFar) return;
    call.soFar = undefined;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    last.place = call.place;
    this.#calls[call.place] = last;
  }

  /** An interval is over. */
  elapsed(): void {
    this.#isDue = true;
  }

  draft(): FollowedDraft {
    const rows: SentRow[number][] = [];
    for (const { start, soFar } of this.#calls) {
      const { input, output, cost } = soFar?.() ?? NOTHING;
      if (output > 0) rows.push([start.id, input, output, cost]);
    }
    const ops: Op[] = [];
    for (let from = 0; from < rows.length; from += PER_ROW) {
      const value: SentRow = rows.slice(from, from + PER_ROW);
      ops.push({ type: 'put', key: sentKey(this.#worker, ops.length), value });
    }
    const stored = ops.length;
    for (let number = stored; number < this.#storedRows; number++) {
      ops.push({ type: 'delete', key: sentKey(this.#worker, number) });
    }
    return {
      ops,
      keep: () => {
        this.#storedRows = stored;
        this.#isDue = false;
      },
    };
  }
}

const NOTHING: Estimate = { input: 0, output: 0, cost: 0 };
