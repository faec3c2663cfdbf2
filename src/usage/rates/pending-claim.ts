import { GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ClaimWindow } from './claims.ts';
import { addCounts, countOne, hasRoom, noRequests } from './rate-shares.ts';
import type { Caller, RateCounts, RateShares } from './rate-shares.ts';
import type { PayingKey } from '../principal.ts';

export interface PendingClaimOptions {
  readonly window: ClaimWindow;
  readonly shares: RateShares;
  readonly caller: Caller;
  /** Error of a request that is turned away. */
  readonly refusal: ErrorCode;
  /** Key whose rate it is; absent: that of the gateway. */
  readonly key?: Pick<PayingKey, 'keyId' | 'keyName'> | undefined;
  /** Claim of the same request in another window, without which this one takes no slot. */
  readonly after?: PendingClaim | undefined;
}

/** A slot of a window that a request claims and the store has yet to decide. */
export class PendingClaim {
  readonly window: ClaimWindow;
  readonly shares: RateShares;
  readonly caller: Caller;
  readonly refusal: ErrorCode;
  readonly key: PendingClaimOptions['key'];
  readonly after: PendingClaim | undefined;
  /** True once a commit holds; rejects with `persistence_failed`. Never unhandled. */
  readonly decided: Promise<boolean>;
  /** Outcome in the last plan. */
  isAccepted = false;
  isOpen = true;
  #resolve!: (isAccepted: boolean) => void;
  #reject!: (error: unknown) => void;

  constructor({ window, shares, caller, refusal, key, after }: PendingClaimOptions) {
    this.window = window;
    this.shares = shares;
    this.caller = caller;
    this.refusal = refusal;
    this.key = key;
    this.after = after;
    this.decided = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.decided.catch(() => undefined);
  }

  /** Error of the request, once it is turned away. */
  toRefusal(): GatewayError {
    return refuseRate(this);
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

/** Error of a request that a rate turns away, with the state of the rate. */
export function refuseRate({
  window,
  shares,
  caller,
  refusal,
  key,
}: Omit<PendingClaimOptions, 'after'>): GatewayError {
  const owner = key
    ? ({ owner: 'key', id: key.keyId, name: key.keyName } as const)
    : ({ owner: 'gateway', id: '', name: null } as const);
  const used = window.count().all;
  const amounts = { most: shares.all, used, held: 0, needed: 1 };
  const freeAt = window.freeAt(shares, caller);
  const limit = { ...owner, unit: 'requests', per: 'minute', ...amounts, freeAt } as const;
  return new GatewayError(refusal, { limit });
}

/** Waits for the decisions about a request. Rejects with what turned it away first, or `persistence_failed`. */
export async function decideAll(claims: readonly PendingClaim[]): Promise<void> {
  for (const claim of claims) if (!(await claim.decided)) throw claim.toRefusal();
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

/** The store turns away what a rate does, and keeps nothing of it. */
export function hasOpenClaims({
  claims,
}: {
  readonly claims?: readonly PendingClaim[] | undefined;
}): boolean {
  return claims?.some(({ isOpen, isAccepted }) => isOpen || !isAccepted) === true;
}

/** Claims of a commit in one window. */
export interface PlannedClaims {
  /** Requests that count, and slots that are set aside. */
  readonly sum: RateCounts;
  /** Requests that are accepted. */
  readonly taken: RateCounts;
  /** Gives up what this worker has set aside. */
  isFreed: boolean;
  /** The slots that others have set aside are recalled first. */
  isRecalled: boolean;
}

/**
 * Decides claims in the order in which they were made, on top of the entries known to count; the answers hold
 * only if the commit succeeds.
 *
 * @param mayRecall false where others have been asked and do not answer
 */
export function planClaims(
  claims: readonly PendingClaim[],
  mayRecall: (window: ClaimWindow) => boolean,
): Map<ClaimWindow, PlannedClaims> {
  const plans = new Map<ClaimWindow, PlannedClaims>();
  for (const claim of claims) {
    const { window, caller, after } = claim;
    const plan = plans.get(window) ?? begunPlan(window);
    plans.set(window, plan);
    claim.isAccepted = (!after || after.isAccepted) && findRoom(claim, plan);
    if (!claim.isAccepted) {
      const isLacking = (!after || after.isAccepted) && mayRecall(window);
      plan.isRecalled ||= isLacking && fitsBeside(claim, plan, window.asideOf('others'));
      continue;
    }
    const one = noRequests();
    countOne(one, caller);
    addCounts(plan.sum, one);
    addCounts(plan.taken, one);
  }
  return plans;
}

function begunPlan(window: ClaimWindow): PlannedClaims {
  const sum = { ...window.count() };
  sum.all += window.asideOf('own') + window.asideOf('others');
  return { sum, taken: noRequests(), isFreed: false, isRecalled: false };
}

function findRoom({ window, shares, caller }: PendingClaim, plan: PlannedClaims): boolean {
  if (hasRoom(shares, plan.sum, caller)) return true;
  const own = window.asideOf('own');
  if (plan.isFreed || own === 0) return false;
  plan.isFreed = true;
  plan.sum.all -= own;
  return hasRoom(shares, plan.sum, caller);
}

/** True for a claim that only lacks slots which others have set aside. */
function fitsBeside(
  { shares, caller }: PendingClaim,
  { sum }: PlannedClaims,
  aside: number,
): boolean {
  return aside > 0 && hasRoom(shares, { ...sum, all: sum.all - aside }, caller);
}
