import type { Clock, Timer } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { EPOCH_PREFIX } from '../store/storage-keys.ts';
import { readChanges } from './change-log.ts';
import type { Changes, LogPosition } from './change-log.ts';

const POLL_MS = 500;

/** Reports changes of any resource, by any process on the store, within a second. */
export interface ChangeFeed {
  /**
   * `onChange` runs after each change, one at a time, and again when something changed meanwhile. The first
   * time, and where the changed rows are unknown, it gets everything.
   */
  subscribe(onChange: Subscriber): () => void;
  /**
   * Resolves when every change that was committed before has been reported; rejects with the cause otherwise, a
   * `StoreError` or the failure of a subscriber.
   */
  catchUp(): Promise<void>;
  /** Every change was reported that was committed so many milliseconds ago, or earlier. */
  ageMs(): number;
  close(): void;
}

export type Subscriber = (changes: Changes) => Promise<void>;

export interface ChangeFeedDeps {
  store: Store;
  clock: Clock;
  /** A subscriber that failed, or a store that could not be read; tried again at the next look. */
  onError(error: unknown): void;
}

/** The store's watch rings at once; the poll makes up for a bell that was lost. */
export function createChangeFeed({ store, clock, onError }: ChangeFeedDeps): ChangeFeed {
  const subscribers = new Set<Subscriber>();
  let seen: LogPosition | undefined;
  /** Look under way; it resolves to its failure, if it has one. */
  let looking: Promise<{ readonly failure: unknown } | undefined> | undefined;
  let again = false;
  let closed = false;
  let timer: Timer | undefined;
  let knownAt = clock.monotonic();

  const look = async (): Promise<{ readonly failure: unknown } | undefined> => {
    const begun = clock.monotonic();
    try {
      const { position, changes } = await readChanges(store, seen);
      if (!closed && changes.length > 0) await tellAll(subscribers, changes);
      [seen, knownAt] = [position, begun];
      return undefined;
    } catch (failure) {
      if (!closed) onError(failure);
      return { failure };
    }
  };

  const ring = (): void => {
    again = looking !== undefined;
    looking ??= look().finally(() => {
      looking = undefined;
      if (again && !closed) {
        again = false;
        ring();
      }
    });
  };

  const poll = (): void => {
    ring();
    timer = clock.setTimeout(poll, POLL_MS);
  };

  const unwatch = store.watch(EPOCH_PREFIX, ring);
  timer = clock.setTimeout(poll, POLL_MS);
  return {
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
    async catchUp() {
      if (looking) {
        // It may have read before the change; all who come meanwhile share the look that follows.
        again = true;
        await looking;
      }
      if (!looking) ring();
      const failed = await looking;
      if (failed) throw failed.failure;
    },
    ageMs: () => clock.monotonic() - knownAt,
    close() {
      closed = true;
      timer?.cancel();
      unwatch();
    },
  };
}

async function tellAll(subscribers: ReadonlySet<Subscriber>, changes: Changes): Promise<void> {
  // All of them, so that none still runs when the next look begins.
  const results = await Promise.allSettled([...subscribers].map(async (run) => run(changes)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
