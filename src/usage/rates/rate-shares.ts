/** Source of a request: unknown, a key with the scope `admin`, or any other key. */
export type Caller = 'refused' | 'client' | 'admin';

/** Divides a cap among callers. */
export interface RateShares {
  /** Requests of all callers together. */
  readonly all: number;
  /** Requests of callers that are refused. */
  readonly refused: number;
  /** Requests of all callers but keys with the scope `admin`. */
  readonly others: number;
}

/** Accepted requests by who made them. */
export interface RateCounts {
  all: number;
  refused: number;
  admin: number;
}

/** Least cap of which a part is kept for keys with the scope `admin`. */
const LEAST_WITH_RESERVE = 100;
const REFUSED_PART = 5;
const ADMIN_PART = 20;

/** The cap of a key, which all its requests share. */
export const undivided = (cap: number): RateShares => ({ all: cap, refused: cap, others: cap });

/**
 * The platform's cap: at most a fifth, rounded down but at least one request, for callers that are
 * refused, and from 100 on a twentieth, rounded up, that only keys with the scope `admin` may use.
 */
export function divided(cap: number): RateShares {
  const kept = cap < LEAST_WITH_RESERVE ? 0 : Math.ceil(cap / ADMIN_PART);
  return {
    all: cap,
    refused: Math.min(cap, Math.max(1, Math.floor(cap / REFUSED_PART))),
    others: cap - kept,
  };
}

/** True when one more request of such a caller fits. */
export function hasRoom(shares: RateShares, counts: RateCounts, caller: Caller): boolean {
  if (counts.all >= shares.all) return false;
  if (caller === 'admin') return true;
  if (counts.all - counts.admin >= shares.others) return false;
  return caller === 'client' || counts.refused < shares.refused;
}

export const noRequests = (): RateCounts => ({ all: 0, refused: 0, admin: 0 });

export function addCounts(sum: RateCounts, { all, refused, admin }: Readonly<RateCounts>): void {
  sum.all += all;
  sum.refused += refused;
  sum.admin += admin;
}

export function subtractCounts(
  sum: RateCounts,
  { all, refused, admin }: Readonly<RateCounts>,
): void {
  sum.all -= all;
  sum.refused -= refused;
  sum.admin -= admin;
}

export function countOne(sum: RateCounts, caller: Caller): void {
  sum.all++;
  if (caller !== 'client') sum[caller]++;
}
