import type { Principal } from './principal.ts';

/**
 * Rolling 60-second request caps, exact across every process on the store (contract: Limits).
 * Without a cap the answer is synchronous and costs nothing.
 */
export interface RateLimiter {
  /** True, or false when the platform cap is reached. Refused requests are not counted. */
  admitPlatform(): boolean | Promise<boolean>;
  /** True, or false when the key's cap is reached. */
  admitKey(principal: Principal): boolean | Promise<boolean>;
}

/** Requests of one key in flight at once, over every process on the store. */
export interface ConcurrencyLimiter {
  /** The function that gives the place back (idempotent), or undefined when the cap is reached. */
  enter(principal: Principal): (() => void) | undefined | Promise<(() => void) | undefined>;
}
