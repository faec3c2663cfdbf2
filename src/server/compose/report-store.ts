import type { Log } from '../../core/log.ts';
import { isStoreTrouble } from '../../store/is-store-trouble.ts';
import type { Store } from '../../store/store.ts';
import { reasonOf } from '../../core/errors.ts';

/**
 * The store, with one line in the log when it begins to fail and one when it is well again: for reading
 * and for writing, since a full disk can still be read.
 */
export function reportStore(store: Store, log: Log): Store {
  const observe = (what: 'read' | 'written'): (<T>(work: Promise<T>) => Promise<T>) => {
    let isFailing = false;
    const onSuccess = <T>(value: T): T => {
      if (isFailing) log.info(`the store can be ${what} again`);
      isFailing = false;
      return value;
    };
    const onFailure = (error: unknown): never => {
      if (isStoreTrouble(error) && !isFailing) {
        isFailing = true;
        log.error(`the store cannot be ${what}`, { reason: reasonOf(error) });
      }
      throw error;
    };
    return (work) => work.then(onSuccess, onFailure);
  };
  const [read, write] = [observe('read'), observe('written')];
  return {
    ...store,
    get: (key) => read(store.get(key)),
    list: (options) => read(store.list(options)),
    commit: (ops) => write(store.commit(ops)),
    increment: (key, by, options) => write(store.increment(key, by, options)),
    ping: () => write(store.ping()),
  };
}

/** Logs a failure, except those that {@link reportStore} has logged already. */
export function tellFailure(
  log: Log,
  message: string,
  { error, ...fields }: { readonly error: unknown } & Record<string, unknown>,
): void {
  const isTold = isStoreTrouble(error) || (error instanceof Error && isStoreTrouble(error.cause));
  if (!isTold) log.error(message, { ...fields, reason: reasonOf(error) });
}
