import { createHash } from 'node:crypto';
import type { Key, Store } from '../store/store.ts';

/** As long as providers keep what they stored for a caller. */
const TTL_MS = 30 * 24 * 3600 * 1000;
const MAX_NAMES = 256;

/**
 * Which provider account made what later requests refer to: response ids and encrypted reasoning mean
 * something to that account only (requirement routing.affinity.responses). Kept for 30 days.
 */
export interface Affinity {
  /**
   * The account that made the last of the names that is known; undefined when none is. Rejects with
   * `StoreError`.
   */
  find(organization: string, names: readonly string[]): Promise<string | undefined>;
  /** Resolves when it is durable; of more than 256 names the last ones are kept. Rejects with `StoreError`. */
  keep(organization: string, names: readonly string[], account: string): Promise<void>;
}

export function createAffinity(store: Store): Affinity {
  return {
    async find(organization, names) {
      for (const name of names.slice(-MAX_NAMES).toReversed()) {
        const entry = await store.get<string>(keyOf(organization, name));
        if (entry) return entry.value;
      }
      return undefined;
    },
    async keep(organization, names, account) {
      const keys = new Map(
        names.slice(-MAX_NAMES).map((name) => [name, keyOf(organization, name)] as const),
      );
      const ops = [...keys.values()].map(
        (key) => ({ type: 'put', key, value: account, ttlMs: TTL_MS }) as const,
      );
      if (ops.length > 0) await store.commit(ops);
    },
  };
}

/** Names come from providers and clients, so their length is theirs too. */
function keyOf(organization: string, name: string): Key {
  return ['affinity', organization, createHash('sha256').update(name).digest('base64url')];
}
