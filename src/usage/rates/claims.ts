import type { Key, Op, Version } from '../../store/store.ts';
import type { Caller } from './limiter.ts';
import type { RateCounts } from './rate-shares.ts';

/** Requests accepted under one cap that the store does not know yet. */
export interface Claimed {
  readonly counts: RateCounts;
  /** Wall clock of the last of them, ms since epoch. */
  at: number;
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
  /** What a claim that the store decides has to wait for; undefined: nothing. */
  ready(): Promise<void> | undefined;
  add(window: ClaimWindow, claim: { caller: Caller; at: number }): void;
}
