import type { Clock } from '../../core/time/clock.ts';
import type { Entry, Store, Version } from '../../store/store.ts';
import type { RequestStart } from '../ledger/ledger.ts';
import { limitedScopes } from '../spend/payer.ts';
import type { Payer } from '../spend/payer.ts';
import { hasOpenClaims } from '../rates/pending-claim.ts';
import { scopeName, SLICE, toScope } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import type { SpendLimits } from '../principal.ts';
import type { ClaimWindow } from '../rates/claims.ts';
import { windowsOfDay } from '../spend/spend.ts';
import type { Windows } from '../spend/spend.ts';
import { workerOf } from './slice-rows.ts';
import type { SliceRow } from './slice-rows.ts';

/** Money of a scope that is set aside for one worker: other workers see it as reserved. */
export interface Slice {
  readonly scope: Scope;
  /** Limits under which it was set aside; under others it is of no use. */
  readonly limits: SpendLimits | undefined;
  readonly windows: Windows;
  /** Amount in the store. */
  amount: number;
  /** Version of its row. */
  version: Version | undefined;
  /** Bounds of calls that began on it and are not stored. */
  used: number;
  /** Window of the slots that it holds, of a rate. */
  readonly window?: ClaimWindow;
  /** Bound of the call that came last. */
  bound: number;
  /** Elapsed time of that call. */
  usedAt: number;
  /** Content after the commit under way: until that is known, the smaller of both counts. */
  planned: { readonly amount: number; readonly used: number } | undefined;
}

/** A call as slices know it. */
interface SlicedCall {
  readonly start: Pick<RequestStart, 'bound' | 'claims'>;
  readonly payers: readonly Payer[];
  readonly windows: Windows;
  readonly hold: Version | undefined;
  /** Term of the slices that it holds something of, and how much; 0: none. */
  sliceTerm: number;
  sliced: number;
}

export interface SlicesOptions {
  readonly clock: Clock;
  readonly worker: string;
  /** True while others may decide about limits, too, and a journal keeps what this worker decides. */
  readonly isOn: () => boolean;
}

/** Elapsed milliseconds for which an unused slice stays. */
const IDLE_MS = 1_000;
/** Calls within {@link IDLE_MS} decided by the store, from which on a slice is worth its commit. */
const BUSY = 8;
/** Milliseconds for which nothing is set aside in a scope after a recall. */
export const RECALL_MS = 5_000;
/** Smallest amount that keeps a slice open. */
const LEAST = 1;
const MAX_SCOPES = 10_000;

interface Begun {
  count: number;
  since: number;
}

/**
 * Slices of one worker: its shares of limits, which it decides without the store while other workers use the
 * same limits. A call takes its bound from a slice when it begins; the commit that stores the call moves it out
 * of the slice, into the cost of the call or a reservation of its own. So the sum of settlements and
 * reservations never exceeds a limit.
 */
export class Slices {
  readonly #options: SlicesOptions;
  readonly #slices = new Map<string, Slice>();
  readonly #begun = new Map<string, Begun>();
  /** Elapsed time until which a scope has no slices, by name. */
  readonly #barred = new Map<string, number>();
  /** Elapsed time until which slices of others are taken for reservations, by name. */
  readonly #waived = new Map<string, number>();
  /** Changes whenever others have given away the amounts set aside. */
  #term = 1;
  #isClosed = false;
  #isDead = false;
  #isStale = false;

  constructor(options: SlicesOptions) {
    this.#options = options;
  }

  /** Elapsed time. */
  now(): number {
    return this.#options.clock.monotonic();
  }

  get worker(): string {
    return this.#options.worker;
  }

  get isOn(): boolean {
    return !this.#isClosed && this.#options.isOn();
  }

  get size(): number {
    return this.#slices.size;
  }

  of(scope: Scope): Slice | undefined {
    return this.#slices.get(scopeName(scope));
  }

  /** Lets a call begin on slices; false where the store has to decide. */
  take(call: SlicedCall): boolean {
    if (this.#slices.size === 0 || !this.isOn || hasOpenClaims(call.start)) return false;
    const { bound } = call.start;
    for (const { scope, limits } of call.payers) {
      if (!limits) continue;
      const slice = this.of(scope);
      if (!slice || !this.serves(slice, limits, call.windows) || roomIn(slice) < bound)
        return false;
    }
    this.adopt(call);
    for (const scope of limitedScopes(call)) {
      const slice = this.of(scope);
      if (slice) [slice.bound, slice.usedAt] = [bound, this.now()];
    }
    return true;
  }

  /** Takes a slot of a rate from its slice, which it returns; undefined where the store has to decide. */
  takePlace(scope: Scope): Slice | undefined {
    const slice = this.of(scope);
    if (!slice || !this.pays(scope) || roomIn(slice) < 1) return undefined;
    slice.used++;
    slice.usedAt = this.now();
    return slice;
  }

  /**
   * Lets the end of a call wait for its commit, while slices of its scopes last: a worker that needs the amount
   * recalls them, and they do not end before it is stored.
   */
  takeEnd(call: SlicedCall): boolean {
    if (this.holds(call)) return true;
    if (call.hold === undefined || !this.isOn) return false;
    const scopes = limitedScopes(call);
    const isHeld = scopes.every((scope) => {
      const slice = this.of(scope);
      return slice !== undefined && this.isUseful(slice) && roomIn(slice) >= LEAST;
    });
    if (isHeld) this.#hold(call, LEAST);
    return isHeld;
  }

  /** Counts a call in its slices without a check of the rest. */
  adopt(call: SlicedCall): void {
    this.#hold(call, call.start.bound);
  }

  #hold(call: SlicedCall, amount: number): void {
    call.sliceTerm = this.#term;
    call.sliced = amount;
    for (const scope of limitedScopes(call)) {
      const slice = this.of(scope);
      if (slice) slice.used += amount;
    }
  }

  /** True for a call that holds something of slices. */
  holds({ sliceTerm }: SlicedCall): boolean {
    return sliceTerm === this.#term;
  }

  /** Ends what {@link take} or {@link takeEnd} began; idempotent. */
  leave(call: SlicedCall): void {
    if (!this.holds(call)) return;
    call.sliceTerm = 0;
    for (const scope of limitedScopes(call)) {
      const slice = this.of(scope);
      if (slice) slice.used -= call.sliced;
    }
  }

  /** Counts beginnings that the store decided about. */
  note(scope: Scope, count = 1): void {
    const now = this.now();
    const name = scopeName(scope);
    const known = this.#begun.get(name);
    if (known && now - known.since <= IDLE_MS) known.count += count;
    else {
      if (this.#begun.size >= MAX_SCOPES) this.#begun.clear();
      this.#begun.set(name, { count, since: now });
    }
  }

  /** True if slicing is worthwhile: high call rate and no recent recall. */
  pays(scope: Scope): boolean {
    if (!this.isOn || scope.kind === 'tokens') return false;
    const name = scopeName(scope);
    if (this.#isWithin(this.#barred, name)) return false;
    if (this.#slices.has(name)) return true;
    const begun = this.#begun.get(name);
    return begun !== undefined && begun.count >= BUSY && this.now() - begun.since <= 2 * IDLE_MS;
  }

  /** True for a slice that calls still use. */
  isUseful({ scope, usedAt }: Slice): boolean {
    const isRecent = this.now() - usedAt <= IDLE_MS;
    return isRecent && this.pays(scope);
  }

  /** Replaces the amounts by those that a commit has set aside. */
  enter(slice: Slice): void {
    if (slice.amount === 0 && slice.used === 0) this.#slices.delete(scopeName(slice.scope));
    else this.#slices.set(scopeName(slice.scope), slice);
  }

  /** True where there are unused slices. */
  get isIdle(): boolean {
    return this.idle(1).length > 0;
  }

  /** Up to `limit` unused slices. */
  idle(limit: number): Slice[] {
    const found: Slice[] = [];
    for (const slice of this.#slices.values()) {
      if (slice.amount <= slice.used || this.isUseful(slice)) continue;
      found.push(slice);
      if (found.length === limit) break;
    }
    return found;
  }

  /** Sets nothing aside in a scope for a while: the rest is needed elsewhere. */
  bar(scope: Scope): void {
    this.#mark(this.#barred, scope, RECALL_MS);
  }

  /** Takes slices of others for reservations for a while: they did not come back. */
  waive(scope: Scope): void {
    this.#mark(this.#waived, scope, IDLE_MS);
  }

  isWaived(scope: Scope): boolean {
    return this.#isWithin(this.#waived, scopeName(scope));
  }

  /** Forgets all: others have given it away. */
  drop(): void {
    this.#slices.clear();
    this.#term++;
  }

  /** Sets nothing aside any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** True for those of a dead worker: only its calls use them. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** The worker is dead: its rows are to be read. */
  takeOver(): void {
    this.#isDead = true;
    this.expire();
  }

  /** Others may have changed the rows of a dead worker. */
  expire(): void {
    this.#isStale = this.#isDead;
  }

  /** Reads the slices of a dead worker, on whose behalf its calls are stored. Rejects with `StoreError`. */
  async load(store: Pick<Store, 'list'>): Promise<void> {
    if (!this.#isStale) return;
    const found: Slice[] = [];
    for await (const entry of readRows<SliceRow>(store, SLICE))
      if (workerOf(entry) === this.worker) found.push(toSlice(entry));
    for (const slice of found) {
      slice.used = this.of(slice.scope)?.used ?? 0;
      this.#slices.set(scopeName(slice.scope), slice);
    }
    const names = new Set(found.map(({ scope }) => scopeName(scope)));
    for (const name of this.#slices.keys()) if (!names.has(name)) this.#slices.delete(name);
    this.#isStale = false;
  }

  /** True for a slice of the same limits and windows. */
  serves(slice: Slice, limits: SpendLimits, windows: Windows): boolean {
    const isSame =
      slice.limits !== undefined &&
      slice.limits.lifetime === limits.lifetime &&
      slice.limits.day === limits.day &&
      slice.limits.month === limits.month;
    return isSame && slice.windows.day === windows.day && this.pays(slice.scope);
  }

  #mark(marks: Map<string, number>, scope: Scope, ms: number): void {
    if (marks.size >= MAX_SCOPES) marks.clear();
    marks.set(scopeName(scope), this.now() + ms);
  }

  #isWithin(marks: Map<string, number>, name: string): boolean {
    const until = marks.get(name);
    if (until === undefined) return false;
    if (until > this.now()) return true;
    marks.delete(name);
    return false;
  }
}

/** Amount that a call may still take. */
function roomIn({ amount, used, planned }: Slice): number {
  if (!planned) return amount - used;
  return Math.min(amount - used, planned.amount - (used - planned.used));
}

/** Slice in which nothing is set aside yet. */
export function emptySlice(scope: Scope, windows: Windows): Slice {
  return {
    scope,
    limits: undefined,
    windows,
    amount: 0,
    version: undefined,
    used: 0,
    bound: 0,
    usedAt: -Infinity,
    planned: undefined,
  };
}

/** Slice of a row, whose calls are yet to be counted. */
function toSlice({ key: [, kind, id], value, version }: Entry<SliceRow>): Slice {
  const [amount, day] = value;
  return { ...emptySlice(toScope(kind, id), windowsOfDay(day)), amount, version };
}
