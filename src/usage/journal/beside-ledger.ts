import type { Key, Op, Store } from '../../store/store.ts';
import { toScope } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { StoreLedger } from '../ledger/ledger-store.ts';

/** Rows that the ledger writes, by their first segment. */
const ROOMS: ReadonlySet<Key[number] | undefined> = new Set([
  'req',
  'flight',
  'sent',
  'unfolded',
  'usage',
  'usage-by',
  'usage-facets',
  'usage-late',
  'usage-on',
  'spend',
  'open',
]);

/**
 * The store as everything but the ledger uses it: a read of its rows includes all earlier operations, those in
 * its journal too, and a change of a counter by others invalidates the ledger's copy.
 */
export function besideLedger(store: Store, ledger: Pick<StoreLedger, 'fold' | 'forget'>): Store {
  return {
    ...tellingLedger(store, ledger),
    get: (key) => (ROOMS.has(key[0]) ? ledger.fold().then(() => store.get(key)) : store.get(key)),
    list: (options) =>
      ROOMS.has(options.prefix[0])
        ? ledger.fold().then(() => store.list(options))
        : store.list(options),
  };
}

/**
 * The store for work that the ledger may wait for, and that therefore must not wait for the ledger: reads
 * return the stored rows, and a change of a counter by others invalidates the ledger's copy.
 */
export function tellingLedger(store: Store, ledger: Pick<StoreLedger, 'forget'>): Store {
  return {
    ...store,
    commit: async (ops) => {
      const result = await store.commit(ops);
      const changed = result.ok ? ops.flatMap(countersOf) : [];
      if (changed.length > 0) ledger.forget(changed);
      return result;
    },
  };
}

function countersOf({ type, key: [room, kind, id] }: Op): Scope[] {
  if (type === 'check' || room !== 'spend') return [];
  return [toScope(kind, id)];
}
