import { createHash } from 'node:crypto';
import { GatewayError } from '../core/errors.ts';
import type { Key, Op, Store } from '../store/store.ts';

/** Time in ms: as long as providers keep the things that they store for a caller. */
const TTL_MS = 30 * 24 * 3600 * 1000;
const MAX_NAMES = 256;

/**
 * Remembers which provider account made the things that later requests refer to: ids of responses
 * and of their items, and encrypted reasoning, mean something to that account only (requirement
 * routing.affinity.responses). Kept for 30 days.
 */
export interface Affinity {
  /**
   * The account that made the last of the names that is known; undefined when none is known. Rejects with
   * `StoreError`, and with `invalid_request` for a name that another organization was given and this one was
   * not.
   */
  find(organization: string, names: readonly string[]): Promise<string | undefined>;
  /**
   * The logical model that made something which its account keeps; undefined where nothing of that name is kept
   * for the organization. Rejects with `StoreError`.
   */
  modelOf(organization: string, name: string): Promise<string | undefined>;
  /** Resolves when it is durable; of more than 256 names the last ones are kept. Rejects with `StoreError`. */
  keep(organization: string, names: readonly string[], owner: string | Owner): Promise<void>;
}

/** Account, and the logical model under which the things of these names can be looked up. */
export interface Owner {
  readonly account: string;
  readonly model: string;
}

export function createAffinity(store: Store): Affinity {
  return {
    async find(organization, names) {
      for (const name of names.slice(-MAX_NAMES).toReversed()) {
        const entry = await store.get<string | Owner>(keyOf(organization, name));
        if (entry) return typeof entry.value === 'string' ? entry.value : entry.value.account;
        // Organizations may share an account at the provider, which would not tell them apart.
        if (await store.get(ownedKey(name))) throw foreign();
      }
      return undefined;
    },
    async modelOf(organization, name) {
      const owner = (await store.get<string | Owner>(keyOf(organization, name)))?.value;
      return typeof owner === 'object' ? owner.model : undefined;
    },
    async keep(organization, names, owner) {
      const kept = new Set(names.slice(-MAX_NAMES));
      const ops = [...kept].flatMap((name): Op[] => [
        { type: 'put', key: keyOf(organization, name), value: owner, ttlMs: TTL_MS },
        { type: 'put', key: ownedKey(name), value: true, ttlMs: TTL_MS },
      ]);
      if (ops.length > 0) await store.commit(ops);
    },
  };
}

function foreign(): GatewayError {
  const message = 'the request continues something that is not known here';
  return new GatewayError('invalid_request', { message });
}

function keyOf(organization: string, name: string): Key {
  return ['affinity', organization, digestOf(name)];
}

/** Mark of a name that was given to an organization. */
function ownedKey(name: string): Key {
  return ['affinity-owned', digestOf(name)];
}

/** Names come from providers and clients, so their length is theirs too. */
function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}
