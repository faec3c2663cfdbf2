import type { UnitContext } from './commit-unit.ts';
import type { WriteUnit } from './group-writer.ts';
import { fromExpiryKey } from './rows.ts';

interface Due {
  mark: Buffer;
  key: Buffer;
  /** The expired row to remove; undefined when the key was written again since. */
  version: number | undefined;
}

/** The first `limit` expired entries; removing them is one unit of work. */
export function findExpired({ environment, steady }: UnitContext, limit: number): Due[] {
  const now = steady.now();
  const due: Due[] = [];
  for (const mark of environment.expiry.getKeys({ limit })) {
    const { expiresAt, key } = fromExpiryKey(mark);
    if (expiresAt > now) break;
    const row = environment.peek(key);
    due.push({ mark, key, version: row && row.expiresAt <= now ? row.version : undefined });
  }
  return due;
}

/**
 * Removes rows on condition that they are still the expired ones; without a notification, since no read returns
 * them.
 */
export function createSweepUnit(
  { environment }: UnitContext,
  due: readonly Due[],
  settle: { resolve: () => void; reject: (error: Error) => void },
): WriteUnit {
  const { data, expiry } = environment;
  return {
    size: 0,
    issue() {
      for (const { mark, key, version } of due) {
        void expiry.remove(mark);
        // The result does not matter; a failed commit is reported by the group.
        if (version !== undefined)
          data.ifVersion(key, version, () => void data.remove(key)).catch(ignore);
      }
      return [];
    },
    done() {
      settle.resolve();
      return [];
    },
    fail: settle.reject,
  };
}

function ignore(): void {}
