import type { Clock } from '../core/time/clock.ts';
import { createIdSource } from '../core/ids.ts';
import type { IdSource } from '../core/ids.ts';
import { LaneHeads } from '../store/lanes/lane-heads.ts';
import type { LaneStep } from '../store/lanes/lane-heads.ts';
import type { CommitResult, Op, Store } from '../store/store.ts';
import type { AuditNote } from './audit-entry.ts';
import { CHAINS, entryKey, hashAfter, headKey, NO_HASH } from './audit-rows.ts';
import type { ChainHead } from './audit-rows.ts';

export interface AuditLogOptions {
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Log of who did what. It is appended to and never changed: each entry carries the hash of the one before it in
 * its chain, and seals record how far the chains have come. Rejects with `StoreError`.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #heads: LaneHeads<ChainHead>;
  readonly #ids: IdSource;
  /** Instant of the next id, in milliseconds since epoch. */
  #at = 0;

  constructor(options: AuditLogOptions) {
    const { store, clock } = options;
    this.#options = options;
    const first = { number: 0, hash: NO_HASH, at: 0 };
    this.#heads = new LaneHeads({ store, lanes: CHAINS, first, keyOf: headKey });
    this.#ids = createIdSource({ ...clock, now: () => this.#at });
  }

  /** Commits the operations together with their entries; as `Store.commit`. */
  commit(
    ops: readonly Op[],
    note: AuditNote,
    further: readonly AuditNote[] = [],
  ): Promise<CommitResult> {
    const { store } = this.#options;
    return this.#heads.write(
      (chain, head) => {
        let step: LaneStep<ChainHead> = { ops, next: head };
        for (const one of [note, ...further]) step = this.#append(chain, step, one);
        return step;
      },
      (all) => store.commit(all),
    );
  }

  /** Notes what changes nothing in the store: a sign-in, or a read of content. */
  async record(note: AuditNote): Promise<void> {
    await this.commit([], note);
  }

  /** Adds an entry to a step. */
  #append(
    chain: number,
    { ops, next: head }: LaneStep<ChainHead>,
    note: AuditNote,
  ): LaneStep<ChainHead> {
    const now = this.#options.clock.now();
    // Ids of a chain ascend, whatever the clocks of its writers say.
    const at = Math.max(Math.floor(now), head.at + 1);
    this.#at = at;
    const { origin, action, object, organization, changes } = note;
    const entry = {
      id: this.#ids.next('aud'),
      at: new Date(now).toISOString(),
      organization,
      actor: origin.actor,
      from: origin.from,
      action,
      object,
      changes,
      request_id: origin.requestId,
      chain,
      number: head.number + 1,
    };
    const hash = hashAfter(head.hash, entry);
    const value = { ...entry, hash };
    return {
      ops: [...ops, { type: 'put', key: entryKey(entry.id), value, ifAbsent: true }],
      next: { number: entry.number, hash, at },
    };
  }
}
