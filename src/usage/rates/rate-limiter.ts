import type { Clock } from '../../core/time/clock.ts';
import type { Key, Store } from '../../store/store.ts';
import type { ClaimLedger } from './rate-window.ts';
import type { RateLimiter } from './limiter.ts';
import type { Principal } from '../principal.ts';
import { refuseRate } from './pending-claim.ts';
import type { PendingClaim } from './pending-claim.ts';
import { divided, undivided } from './rate-shares.ts';
import type { Caller } from './rate-shares.ts';
import { RateWindow } from './rate-window.ts';
import { createStepWatch } from './step-watch.ts';

/** Keys whose window is remembered; beyond, those without requests in it are forgotten. */
const MAX_KEYS = 10_000;

export interface RateLimiterOptions {
  store: Store;
  clock: Clock;
  /** Accepted requests in any 60 seconds over all keys; null for no cap. */
  platformCap: () => number | null;
  /** Keeps claims, and stores them. */
  ledger: ClaimLedger;
}

export interface StoreRateLimiter extends RateLimiter {
  /** Other processes may have accepted requests since. */
  forget(): void;
  close(): void;
}

/**
 * Rolling 60-second caps, exact over all processes on the store: in any 60 seconds at most as many requests as
 * the cap are accepted, and a slot is free again 60 seconds after the request that took it (contract: Limits).
 * Without a cap nothing is counted and the store is not read.
 */
export function createRateLimiter({
  store,
  clock,
  platformCap,
  ledger,
}: RateLimiterOptions): StoreRateLimiter {
  const { look, close } = createStepWatch(clock);
  const parts = { store, look, folded: () => ledger.folded, slices: ledger.slices };
  const platform = new RateWindow({ ...parts, name: ['rpm', 'platform'] });
  const keys = new Map<string, RateWindow>();

  const windowOf = (keyId: string): RateWindow => {
    let window = keys.get(keyId);
    if (window === undefined) {
      if (keys.size >= MAX_KEYS) forgetIdle(keys);
      const name: Key = ['rpm', 'key', keyId];
      window = new RateWindow({ ...parts, name });
      keys.set(keyId, window);
    }
    return window;
  };

  /** The claim that a request makes on the platform's rate, and on that of its key. */
  const ofPlatform = (cap: number, caller: Caller) =>
    ({ shares: divided(cap), caller, refusal: 'global_rate_limited' }) as const;
  const ofKey = (key: Principal, cap: number, after?: PendingClaim) =>
    ({
      shares: undivided(cap),
      caller: 'client',
      key,
      after,
      refusal: 'key_rate_limited',
    }) as const;

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
      if (cap === null) return true;
      return platform.claim(ofPlatform(cap, caller), ledger);
    },
    admitKey(principal, after) {
      const { keyId, rpmCap } = principal;
      if (rpmCap === null) return true;
      return windowOf(keyId).claim(ofKey(principal, rpmCap, after), ledger);
    },
    refusePlatform: (caller) =>
      refuseRate({ window: platform, ...ofPlatform(platformCap() ?? 0, caller) }),
    refuseKey(principal) {
      const window = windowOf(principal.keyId);
      return refuseRate({ window, ...ofKey(principal, principal.rpmCap ?? 0) });
    },
  };
}

function forgetIdle(keys: Map<string, RateWindow>): void {
  for (const [keyId, window] of keys) if (window.idle) keys.delete(keyId);
}
