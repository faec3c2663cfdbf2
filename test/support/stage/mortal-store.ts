import { StoreError } from '../../../src/store/store.ts';
import type { CommitResult, Store } from '../../../src/store/store.ts';

/** The moment of a death: with the commit unmade, or made and not heard of. */
export type Moment = 'before' | 'after';

/** A store as one process sees it that dies at a commit; others go on with what it left. */
export interface MortalStore {
  readonly store: Store;
  readonly isDead: boolean;
  /** Aborted when it dies. */
  readonly death: AbortSignal;
  /** Dies at the nth commit from now on. */
  dieAt(commit: number, moment: Moment): void;
}

/** Closing it leaves `store` open. */
export function createMortalStore(store: Store): MortalStore {
  let isDead = false;
  let commits = 0;
  let doom: { at: number; moment: Moment } | undefined;
  const death = new AbortController();
  const gone = (): StoreError => new StoreError('closed', 'the process is dead');
  const living = <T>(work: () => Promise<T>): Promise<T> =>
    isDead ? Promise.reject(gone()) : work();
  const writing = async <T>(work: () => Promise<T>): Promise<T> => {
    commits++;
    if (commits !== doom?.at) return living(work);
    isDead = true;
    if (doom.moment === 'after') await work();
    death.abort();
    throw gone();
  };
  return {
    store: {
      ...store,
      get: (key) => living(() => store.get(key)),
      list: (options) => living(() => store.list(options)),
      commit: (ops) => writing<CommitResult>(() => store.commit(ops)),
      increment: (key, by, options) => living(() => store.increment(key, by, options)),
      watch: (prefix, listener) => store.watch(prefix, () => !isDead && listener()),
      ping: () => living(() => store.ping()),
      close: async () => undefined,
    },
    get isDead() {
      return isDead;
    },
    death: death.signal,
    dieAt(at, moment) {
      commits = 0;
      doom = { at, moment };
    },
  };
}
