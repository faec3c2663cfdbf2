import type { GatewayError } from '../../core/errors.ts';
import type { Caller } from './rate-shares.ts';
import type { Principal } from '../principal.ts';
import type { PendingClaim } from './pending-claim.ts';

/**
 * Rolling 60-second request caps, exact across every process on the store (contract: Limits).
 * Without a cap the answer is synchronous and costs nothing.
 */
export interface RateLimiter {
  /** True when it is known, without a read, that the platform cap admits no request. */
  isPlatformFull(): boolean;
  /**
   * True, or false when the platform cap, or the share of it that is open to such callers, is used up; a
   * claim where the store decides, together with the calls that begin in this turn. Requests that it turns
   * away are not counted. Throws `persistence_failed` while the store is known to fail.
   */
  admitPlatform(caller: Caller): boolean | PendingClaim;
  /**
   * The same for the key's cap. `after`: the platform's claim on the same request, without which no slot of the
   * key's is taken.
   */
  admitKey(principal: Principal, after?: PendingClaim): boolean | PendingClaim;
  /** Error of a request that was not admitted, with the state of the rate. Default: the plain error. */
  refusePlatform?(caller: Caller): GatewayError;
  refuseKey?(principal: Principal): GatewayError;
}

/** Requests of one key in flight at once, over every process on the store. */
export interface ConcurrencyLimiter {
  /** The function that releases the slot (idempotent), or undefined when the cap is reached. */
  enter(principal: Principal): (() => void) | undefined | Promise<(() => void) | undefined>;
}
