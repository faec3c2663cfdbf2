import type { Store } from '../../store/store.ts';

export interface StoreWork {
  readonly reads: number;
  readonly writes: number;
}

/** The store, and how much it was asked for and has not done yet. */
export function countStoreWork(store: Store): { store: Store; work(): StoreWork } {
  const underWay = { reads: 0, writes: 0 };
  const count = <T>(what: keyof StoreWork, work: Promise<T>): Promise<T> => {
    underWay[what] += 1;
    return work.finally(() => (underWay[what] -= 1));
  };
  return {
    store: {
      ...store,
      get: (key) => count('reads', store.get(key)),
      list: (options) => count('reads', store.list(options)),
      commit: (ops) => count('writes', store.commit(ops)),
      increment: (key, by, options) => count('writes', store.increment(key, by, options)),
    },
    work: () => underWay,
  };
}
