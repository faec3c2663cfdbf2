import type { Key, Op, Version } from '../../store/store.ts';
import type { Caller } from './limiter.ts';
import { countOne, noRequests } from './rate-shares.ts';
import type { RateCounts } from './rate-shares.ts';

/** Request that was accepted under a cap. */
export interface Claim {
  readonly caller: Caller;
  /** Wall clock, ms since epoch. */
  readonly at: number;
  /** Number of its line in the journal. */
  readonly number: number;
}

/** Requests accepted under one cap that the store does not know yet. */
export interface Claimed {
  readonly counts: Readonly<RateCounts>;
  /** Wall clock of the last of them, ms since epoch. */
  readonly at: number;
  /** Number of the last line of them in the journal. Absent: they have none. */
  readonly last?: number;
}

/** Claims by the cap that they count under. */
export type Claims = ReadonlyMap<ClaimWindow, readonly Claim[]>;

/** Sums those whose line comes behind `folded`, the last that the store has. */
export function claimedAfter(folded: number, claims: Claims): Map<ClaimWindow, Claimed> {
  const found = new Map<ClaimWindow, Claimed>();
  for (const [window, all] of claims) {
    const rest = all.filter(({ number }) => number > folded);
    const last = rest.at(-1);
    if (!last) continue;
    const counts = noRequests();
    for (const { caller } of rest) countOne(counts, caller);
    found.set(window, { counts, at: last.at, last: last.number });
  }
  return found;
}

/** Operations that store what was claimed; nothing counts until `keep`. */
export interface ClaimDraft {
  readonly ops: readonly Op[];
  keep(version: Version): void;
}

/** A window whose claims may be stored together with calls. */
export interface ClaimWindow {
  readonly name: Key;
  /** Catches up with the store after `forget`. Rejects with `StoreError`. */
  load(): Promise<void>;
  /** Somebody else changed it. */
  forget(): void;
  draft(claimed: Claimed): ClaimDraft;
}

/** Takes claims that need no commit of their own, as long as this process alone decides. */
export interface ClaimJournal {
  readonly isOpen: boolean;
  /** Number of the last line that the store is known to hold. */
  readonly folded: number;
  /** What a claim that the store decides has to wait for; undefined: nothing. */
  ready(): Promise<void> | undefined;
  /** Returns the number of its line. */
  add(window: ClaimWindow, claim: Pick<Claim, 'caller' | 'at'>): number;
  /** Resolves when the store has all claims so far. Rejects with `StoreError`. */
  fold(): Promise<void>;
}
