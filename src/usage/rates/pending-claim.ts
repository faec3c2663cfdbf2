import { GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ClaimWindow } from './claims.ts';
import type { Caller } from './limiter.ts';
import { addCounts, countOne, hasRoom, noRequests } from './rate-shares.ts';
import type { RateCounts, RateShares } from './rate-shares.ts';

export interface PendingClaimOptions {
  readonly window: ClaimWindow;
  readonly shares: RateShares;
  readonly caller: Caller;
  /** Error of a request that is turned away. */
  readonly refusal: ErrorCode;
  /** Claim of the same request in another window, without which this one takes no place. */
  readonly after?: PendingClaim | undefined;
}

/** A place in a window that a request asked for and the store has yet to decide about. */
export class PendingClaim {
  readonly window: ClaimWindow;
  readonly shares: RateShares;
  readonly caller: Caller;
  readonly refusal: ErrorCode;
  readonly after: PendingClaim | undefined;
  /** True once a commit holds; rejects with `persistence_failed`. Never unhandled. */
  readonly decided: Promise<boolean>;
  /** Outcome in the last plan. */
  isAccepted = false;
  isOpen = true;
  #resolve!: (isAccepted: boolean) => void;
  #reject!: (error: unknown) => void;

  constructor({ window, shares, caller, refusal, after }: PendingClaimOptions) {
    this.window = window;
    this.shares = shares;
    this.caller = caller;
    this.refusal = refusal;
    this.after = after;
    this.decided = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.decided.catch(() => undefined);
  }

  /** Marks the decision of the last plan as stored. */
  settle(): void {
    this.#close();
    this.#resolve(this.isAccepted);
  }

  /** The store could not decide. */
  fail(cause: unknown): void {
    this.#close();
    this.isAccepted = false;
    this.window.forget();
    this.#reject(new GatewayError('persistence_failed', { cause }));
  }

  #close(): void {
    this.isOpen = false;
    this.window.pending--;
  }
}

/** Waits for the decisions about a request. Rejects with what turned it away first, or `persistence_failed`. */
export async function decideAll(claims: readonly PendingClaim[]): Promise<void> {
  for (const claim of claims) if (!(await claim.decided)) throw new GatewayError(claim.refusal);
}

/** Error that a request is answered with: rates are asked before whatever else was found. */
export async function firstRefusal(
  claims: readonly PendingClaim[],
  thrown: unknown,
): Promise<unknown> {
  try {
    await decideAll(claims);
    return thrown;
  } catch (refusal) {
    return refusal;
  }
}

/**
 * Decides about claims in the order in which they were made, beside what is known to count already; the
 * answers hold only if the commit succeeds. Gives what they take.
 */
export function planClaims(claims: readonly PendingClaim[]): Map<ClaimWindow, RateCounts> {
  const sums = new Map<ClaimWindow, RateCounts>();
  const taken = new Map<ClaimWindow, RateCounts>();
  for (const claim of claims) {
    const { window, shares, caller, after } = claim;
    const sum = sums.get(window) ?? { ...window.count() };
    sums.set(window, sum);
    claim.isAccepted = (!after || after.isAccepted) && hasRoom(shares, sum, caller);
    if (!claim.isAccepted) continue;
    const one = noRequests();
    countOne(one, caller);
    addCounts(sum, one);
    const own = taken.get(window);
    if (own) addCounts(own, one);
    else taken.set(window, one);
  }
  return taken;
}
