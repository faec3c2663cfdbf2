import { reasonOf } from './errors.ts';
/** A part of the program that is loaded at its first use, once for all who ask. */
export interface Lazy<T> {
  /** Loads it once. Rejects with `Error`, which names the part; the next call tries again. */
  (): Promise<T>;
  /** Result of a load that has begun; undefined before the first call, or when it failed. */
  begun(): Promise<T | undefined>;
}

/** Defers `load` until the first call; the error of one that fails has `name`. */
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

/** Defers `make` until the first call; every call returns the same. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
