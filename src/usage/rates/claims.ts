import type { Key, Op, Version } from '../../store/store.ts';
import { countOne, noRequests } from './rate-shares.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { Caller, RateCounts, RateShares } from './rate-shares.ts';

/** Request that was accepted under a cap. */
export interface Claim {
  readonly caller: Caller;
  /** Wall clock, ms since epoch. */
  readonly at: number;
  /** Number of its line in the journal. */
  readonly number: number;
  /** Slice that its slot was taken from. */
  readonly slice?: object | undefined;
}

/** Requests accepted under one cap that the store does not know yet. */
export interface Claimed {
  readonly counts: Readonly<RateCounts>;
  /** Wall clock of the last of them, ms since epoch. */
  readonly at: number;
  /** Number of the last line of them in the journal. Absent: they have none. */
  readonly last?: number;
  /** Slices that their slots were taken from, one for each. */
  readonly slices: readonly object[];
}

/** Claims by the cap that they count under. */
export type Claims = ReadonlyMap<ClaimWindow, readonly Claim[]>;

/** Sums those whose line comes after `folded`, the last that is stored. */
export function claimedAfter(folded: number, claims: Claims): Map<ClaimWindow, Claimed> {
  const found = new Map<ClaimWindow, Claimed>();
  for (const [window, all] of claims) {
    const rest = all.filter(({ number }) => number > folded);
    const last = rest.at(-1);
    if (!last) continue;
    const counts = noRequests();
    for (const { caller } of rest) countOne(counts, caller);
    const slices = rest.flatMap(({ slice }) => slice ?? []);
    found.set(window, { counts, at: last.at, last: last.number, slices });
  }
  return found;
}

/** Operations that store the claims; nothing counts until `keep`. */
export interface ClaimDraft {
  readonly ops: readonly Op[];
  keep(version: Version): void;
}

/** Requests that a commit adds to a window. */
export interface ClaimedIn {
  /** Claims that count here already. */
  readonly noted?: Claimed | undefined;
  /** Claims that count once it is durable. */
  readonly taken?: Readonly<RateCounts> | undefined;
  /** True: what this worker has set aside and not used is given up. */
  readonly isFreed?: boolean;
}

/** A window whose claims are stored together with calls. */
export interface ClaimWindow {
  readonly name: Key;
  /** Claims that wait for the store to decide. */
  pending: number;
  readonly scope: Scope;
  /** Requests that count now, as far as is known here. */
  count(): Readonly<RateCounts>;
  /** Milliseconds since epoch at which such a caller has room again, as far as is known here. */
  freeAt(shares: RateShares, caller: Caller): number;
  /** Slots that workers have set aside and not used. */
  asideOf(who: 'own' | 'others'): number;
  /** Catches up with the store after `forget`. Rejects with `StoreError`. */
  load(): Promise<void>;
  /** Another process changed it. */
  forget(): void;
  draft(claimed: ClaimedIn): ClaimDraft;
}
