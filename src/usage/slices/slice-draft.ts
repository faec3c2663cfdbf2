import type { Op, Version } from '../../store/store.ts';
import { limitedScopes } from '../spend/payer.ts';
import type { LedgerCall } from '../ledger/ledger-call.ts';
import { scopeName } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { SpendLimits } from '../principal.ts';
import type { Payer } from '../spend/payer.ts';
import type { SpendDraft } from '../spend/spend-counters.ts';
import { fitted, noteStored, opsOf, roomFor } from './fit-slice.ts';
import { emptySlice } from './slices.ts';
import type { Slice, Slices } from './slices.ts';

/** A slice in a plan. */
interface Touched {
  readonly slice: Slice;
  amount: number;
  /** Bounds of calls that the plan leaves on it. */
  used: number;
}

/** Changes of one commit to slices; nothing counts until `keep`. */
export class SliceDraft {
  readonly #slices: Slices;
  readonly #spend: SpendDraft;
  readonly #touched = new Map<string, Touched>();
  readonly #stored: LedgerCall[] = [];
  /** Calls that the plan lets begin without a slice. */
  readonly #begun: LedgerCall[] = [];
  readonly #recalled = new Map<string, Scope>();

  constructor(slices: Slices, spend: SpendDraft) {
    this.#slices = slices;
    this.#spend = spend;
  }

  /** Scopes in which a call is refused because of the slices of others. */
  get recalled(): Scope[] {
    return [...this.#recalled.values()];
  }

  /** Stores what a call holds slices for: `amount` of them is spent or reserved for itself from here on. */
  store(call: LedgerCall, amount: number): void {
    if (!this.#slices.holds(call)) return;
    this.#stored.push(call);
    for (const scope of limitedScopes(call)) {
      const touched = this.#touch(scope);
      if (!touched) continue;
      touched.used -= call.sliced;
      this.#change(touched, -Math.min(amount, touched.amount));
    }
  }

  /** Notes a call that the plan lets begin, which may make a slice pay. */
  begin(call: LedgerCall): void {
    this.#begun.push(call);
  }

  /** Gives up what this worker has set aside and not used; false where that is nothing. */
  free(scopes: readonly Scope[]): boolean {
    let isMore = false;
    for (const scope of scopes) {
      const touched = this.#touch(scope);
      if (!touched || touched.amount <= touched.used) continue;
      isMore = true;
      this.#change(touched, touched.used - touched.amount);
    }
    return isMore;
  }

  /** True where the slices of others in a scope are recalled first. */
  recalls({ scope, limits }: Payer, { start, windows }: LedgerCall): boolean {
    const sliced = this.#spend.sliced(scope);
    if (!limits || sliced <= 0 || this.#slices.isWaived(scope)) return false;
    // Reservations of others may be given back, too, without being stored yet.
    if (this.#spend.unspent(scope, limits, windows) < start.bound) return false;
    this.#recalled.set(scopeName(scope), scope);
    return true;
  }

  /** Sets aside the expected need of calls, and gives up the rest. To be called once, after all else. */
  settle(): void {
    if (this.#slices.isDead) return;
    for (const call of this.#begun)
      for (const { scope, limits } of call.payers)
        if (limits && this.#slices.pays(scope)) this.#open(scope, limits, call);
    for (const touched of this.#touched.values()) this.#fit(touched);
  }

  /** Gives up unused slices. */
  settleIdle(slices: readonly Slice[]): void {
    for (const { scope } of slices) this.#touch(scope);
    this.settle();
  }

  ops(): Op[] {
    const touched = [...this.#touched.values()];
    for (const { slice, amount, used } of touched)
      slice.planned = { amount, used: slice.used - used };
    return touched.flatMap(({ slice, amount }) => opsOf(slice, amount, this.#slices.worker));
  }

  keep(version: Version): void {
    for (const call of this.#begun)
      for (const scope of limitedScopes(call)) this.#slices.note(scope);
    for (const { slice, amount } of this.#touched.values()) noteStored(slice, amount, version);
    for (const call of this.#stored) this.#slices.leave(call);
    for (const { slice } of this.#touched.values()) this.#slices.enter(slice);
  }

  /** Makes a slice, still empty, where there is none that serves the call. */
  #open(scope: Scope, limits: SpendLimits, { start, windows }: LedgerCall): void {
    const known = this.#touch(scope);
    if (known) {
      if (!this.#slices.serves(known.slice, limits, windows)) known.slice.usedAt = -Infinity;
      return;
    }
    const slice = {
      ...emptySlice(scope, windows),
      limits,
      bound: start.bound,
      usedAt: this.#slices.now(),
    };
    this.#touched.set(scopeName(scope), { slice, amount: 0, used: 0 });
  }

  #fit(touched: Touched): void {
    const { slice, amount } = touched;
    const room = this.#slices.isUseful(slice) ? this.#roomOf(touched) : 0;
    this.#change(touched, fitted(touched, room) - amount);
  }

  #roomOf({ slice: { scope, limits, windows, bound }, amount, used }: Touched): number {
    if (!limits || bound === 0) return 0;
    return roomFor(bound, this.#spend.left(scope, limits, windows) + amount - used);
  }

  #change(touched: Touched, by: number): void {
    if (by === 0) return;
    touched.amount += by;
    const { scope, windows } = touched.slice;
    this.#spend.add(scope, windows, { settled: 0, reserved: by });
  }

  #touch(scope: Scope): Touched | undefined {
    const name = scopeName(scope);
    const known = this.#touched.get(name);
    if (known) return known;
    const slice = this.#slices.of(scope);
    if (!slice) return undefined;
    const touched = { slice, amount: slice.amount, used: slice.used };
    this.#touched.set(name, touched);
    return touched;
  }
}
