import { reasonOf } from './errors.ts';
/** A part of the program that is loaded at its first use, once for all who ask. */
export interface Lazy<T> {
  /**
   * Loads it, or gives what is loaded. Rejects with `Error`, which names the part; whoever asks next
   * tries again.
   */
  (): Promise<T>;
  /** Result of a load that has begun; undefined when nobody asked so far, or when it failed. */
  begun(): Promise<T | undefined>;
}

/** Defers `load` until the first call; `name` stands in the error of one that fails. */
export function lazy<T>(name: string, load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    try {
      return await load();
    } catch (cause) {
      loading = undefined;
      const reason = reasonOf(cause);
      throw new Error(`${name} cannot be loaded: ${reason}`, { cause });
    }
  };
  return Object.assign((): Promise<T> => (loading ??= start()), {
    begun: async (): Promise<T | undefined> => loading?.catch(() => undefined),
  });
}

/** Defers `make` until the first call; everybody gets the same. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
