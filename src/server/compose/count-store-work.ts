import type { Store } from '../../store/store.ts';

export interface StoreWork {
  readonly reads: number;
  readonly writes: number;
  /** Writes so far that failed, whatever became of them. */
  readonly failed: number;
}

/** The store, and how much it was asked for and has not done yet. */
export function countStoreWork(store: Store): { store: Store; work(): StoreWork } {
  const underWay = { reads: 0, writes: 0, failed: 0 };
  const count = <T>(what: 'reads' | 'writes', work: Promise<T>): Promise<T> => {
    underWay[what] += 1;
    return work.finally(() => (underWay[what] -= 1));
  };
  const write = <T>(work: Promise<T>): Promise<T> =>
    count('writes', work).catch((error: unknown) => {
      underWay.failed += 1;
      throw error;
    });
  return {
    store: {
      ...store,
      get: (key) => count('reads', store.get(key)),
      list: (options) => count('reads', store.list(options)),
      commit: (ops) => write(store.commit(ops)),
      increment: (key, by, options) => write(store.increment(key, by, options)),
    },
    work: () => underWay,
  };
}
