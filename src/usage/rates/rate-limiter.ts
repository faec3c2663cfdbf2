import type { Clock } from '../../core/time/clock.ts';
import type { Key, Store } from '../../store/store.ts';
import type { ClaimJournal } from './claims.ts';
import type { RateLimiter } from './limiter.ts';
import { divided, undivided } from './rate-shares.ts';
import { RateWindow } from './rate-window.ts';
import { createStepWatch } from './step-watch.ts';

/** Keys whose window is remembered; beyond, those without requests in it are forgotten. */
const MAX_KEYS = 10_000;

export interface RateLimiterOptions {
  store: Store;
  clock: Clock;
  /** Accepted requests in any 60 seconds over all keys; null for no cap. */
  platformCap: () => number | null;
  /** Keeps claims until the store has them. Default: the store alone. */
  journal?: ClaimJournal | undefined;
}

export interface StoreRateLimiter extends RateLimiter {
  /** Other processes may have accepted requests since. */
  forget(): void;
  close(): void;
}

/**
 * Rolling 60-second caps, exact over all processes on the store: in any 60 seconds at most as many
 * requests as the cap are accepted, and a place comes back 60 seconds after the request that took it
 * (contract: Limits). Without a cap nothing is counted and the store is not asked.
 *
 * @throws GatewayError `persistence_failed` when the store cannot tell
 */
export function createRateLimiter({
  store,
  clock,
  platformCap,
  journal,
}: RateLimiterOptions): StoreRateLimiter {
  const { look, close } = createStepWatch(clock);
  const platform = new RateWindow({ store, look, name: ['rpm', 'platform'], journal });
  const keys = new Map<string, RateWindow>();

  const windowOf = (keyId: string): RateWindow => {
    let window = keys.get(keyId);
    if (window === undefined) {
      if (keys.size >= MAX_KEYS) forgetIdle(keys);
      const name: Key = ['rpm', 'key', keyId];
      window = new RateWindow({ store, look, name, journal });
      keys.set(keyId, window);
    }
    return window;
  };

  return {
    close,
    forget() {
      for (const window of [platform, ...keys.values()]) window.forget();
    },
    isPlatformFull() {
      const cap = platformCap();
      return cap !== null && platform.isFull(divided(cap));
    },
    admitPlatform(caller) {
      const cap = platformCap();
      return cap === null || platform.claim(divided(cap), caller);
    },
    admitKey: ({ keyId, rpmCap }) =>
      rpmCap === null || windowOf(keyId).claim(undivided(rpmCap), 'client'),
  };
}

function forgetIdle(keys: Map<string, RateWindow>): void {
  for (const [keyId, window] of keys) if (window.idle) keys.delete(keyId);
}
