import type { Entry, Version } from '../../store/store.ts';
import type { GatewayError } from '../../core/errors.ts';
import type { Flight } from './flights.ts';
import type { Scope } from './ledger-keys.ts';
import type { Estimate, RequestOutcome, RequestStart } from './ledger.ts';
import type { Principal, SpendLimits } from '../principal.ts';
import type { EndRow, StartRow } from '../requests/request-row.ts';
import { hasLimit } from '../spend/spend.ts';
import type { Windows } from '../spend/spend.ts';

/** A promise with its ends; it never counts as unhandled. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createDeferred(): Deferred {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** One of the two that a call is charged to. With a limit, the call reserves in the shared counter. */
interface Payer {
  readonly scope: Scope;
  readonly limits: SpendLimits | undefined;
}

/** One request on its way through the ledger. */
export interface LedgerCall {
  readonly start: RequestStart;
  /** Row of its start, as it is stored. */
  readonly startRow: StartRow;
  readonly windows: Windows;
  readonly key: Payer;
  readonly organization: Payer;
  /** Admission, apart from the batch only where a call can be refused on its own. */
  readonly admitted: Deferred | undefined;
  /** Waited for by its answer; only where a limit applies. */
  readonly settled: Deferred | undefined;
  /** Flight that holds its start, once that is committed. */
  flight: Flight | undefined;
  /** The stamp of the open reservation, once it is committed. */
  hold: Version | undefined;
  /** Number of takeovers of its worker that its stored rows are known to have outlived. */
  takeovers: number;
  /** Its final record by whoever took its worker for dead, if any; looked up behind a takeover. */
  lookup: { readonly record: Entry<EndRow> | undefined } | undefined;
  /** Cost so far, while it is followed, and its place among the followed. */
  soFar: (() => Estimate) | undefined;
  place: number;
  /** Why the last plan refused it. */
  refusal: GatewayError | undefined;
  outcome: RequestOutcome | undefined;
  /** The final record is durable. */
  done: boolean;
}

export interface Job {
  readonly type: 'begin' | 'settle';
  readonly call: LedgerCall;
}

/** Jobs that are committed together. */
export interface Batch {
  readonly jobs: Job[];
  /** Operations that the jobs need at most. */
  weight: number;
  /** Resolves when the whole batch is durable. */
  readonly durable: Deferred;
}

export const createBatch = (jobs: Job[] = []): Batch => ({
  jobs,
  weight: 0,
  durable: createDeferred(),
});

/** The scopes whose shared counter the call needs. */
export function limitedScopes(call: LedgerCall): Scope[] {
  const scopes: Scope[] = [];
  if (call.key.limits) scopes.push(call.key.scope);
  if (call.organization.limits) scopes.push(call.organization.scope);
  return scopes;
}

/** True where a call of the principal reserves its cost. */
export function hasSpendingLimit({ keySpend, organizationSpend }: Principal): boolean {
  return hasLimit(keySpend) || hasLimit(organizationSpend);
}

/** Returns the payers of a principal's calls; without a limit in any window there is none. */
export function payersOf(principal: Principal): { key: Payer; organization: Payer } {
  const { keyId, organizationId, keySpend, organizationSpend } = principal;
  return {
    key: { scope: { kind: 'key', id: keyId }, limits: hasLimit(keySpend) ? keySpend : undefined },
    organization: {
      scope: { kind: 'organization', id: organizationId },
      limits: hasLimit(organizationSpend) ? organizationSpend : undefined,
    },
  };
}
