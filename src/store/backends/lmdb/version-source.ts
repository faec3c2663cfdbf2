import type { LmdbEnvironment } from './environment.ts';

/** Version numbers that no process ever gave out for this store. */
export interface VersionSource {
  /** Makes sure that `count` numbers are at hand; only then may {@link next} be called as often. */
  reserve(count: number): void;
  next(): number;
}

export function createVersionSource(environment: LmdbEnvironment): VersionSource {
  let { first: next, count } = environment.leaseVersions();
  let end = next + count;
  return {
    reserve(wanted) {
      if (next + wanted <= end) return;
      ({ first: next, count } = environment.leaseVersions());
      end = next + count;
    },
    next: () => next++,
  };
}
