import type { Entry, Key, Version } from '../../store/store.ts';
import type { EncodedValue } from '../../store/value-codec.ts';
import type { GatewayError } from '../../core/errors.ts';
import { extraPayers, hasBindingBudget } from '../budgets/extra-payers.ts';
import type { BudgetedCall } from '../budgets/extra-payers.ts';
import type { Scope } from './ledger-keys.ts';
import type { Estimate, RequestStart } from './ledger.ts';
import type { RequestOrigin } from '../origin.ts';
import type { Principal } from '../principal.ts';
import type { Claim, ClaimWindow } from '../rates/claims.ts';
import type { PendingClaim } from '../rates/pending-claim.ts';
import type { EndRow, StartRow } from '../requests/request-row.ts';
import { contentIn, ORIGIN, sumsOf, toStartRow } from '../requests/request-row.ts';
import type { Payer } from '../spend/payer.ts';
import { hasLimit } from '../spend/spend.ts';
import type { Windows } from '../spend/spend.ts';
import { partSumsOf } from '../sums/parts.ts';
import type { PartSum } from '../sums/parts.ts';
import type { CallFacts } from '../sums/totals.ts';

/** Calls that began in one commit: their starts share a row until the last of them has ended. */
export interface Flight {
  readonly key: Key;
  /** Calls whose final record is not durable. */
  open: number;
}

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

/** End of a call, as the ledger needs it until that is stored. */
export interface Ended {
  /** Nano-dollars. */
  readonly cost: number;
  /** Amounts of `sumsOf`. */
  readonly sums: readonly number[];
  readonly facts: CallFacts;
  readonly parts: readonly PartSum[];
  /** Characters of the content in the record. */
  readonly content: number;
  /** The final record, as a row or encoded for the store. */
  record: EndRow | EncodedValue;
}

export function endedWith(record: EndRow, facts: CallFacts): Ended {
  const [start, , , , , , , , cost] = record;
  const parts = partSumsOf(start[ORIGIN], facts);
  return { record, cost, sums: sumsOf(record), facts, parts, content: contentIn(record) };
}

/** One request on its way through the ledger. */
export interface LedgerCall {
  readonly start: RequestStart;
  /** Row of its start, as it is stored. */
  readonly startRow: StartRow;
  readonly windows: Windows;
  /** Payers in the order in which they are asked: the first that has too little left refuses. */
  readonly payers: readonly Payer[];
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
  /** Its final record by the process that took it over, if any; looked up after a takeover. */
  lookup: { readonly record: Entry<EndRow> | undefined } | undefined;
  /** Batch of its begin. */
  batch: Batch | undefined;
  /** Term of the slices that it holds something of, and how much; 0: none. */
  sliceTerm: number;
  sliced: number;
  /** Cost so far, while it is followed, and its index among the followed. */
  soFar: (() => Estimate) | undefined;
  place: number;
  /** Refusal by the last plan, and whose limit that was. */
  refusal: GatewayError | undefined;
  refusedBy: Payer | undefined;
  ended: Ended | undefined;
  /** Its start is durable. */
  isKept: boolean;
  /** The final record is durable. */
  done: boolean;
}

export interface Job {
  readonly type: 'begin' | 'settle';
  readonly call: LedgerCall;
  /** Number of its line in the journal; 0: it has none. */
  number: number;
  /** Its money counts as pending. */
  isPending: boolean;
  /** Only the store keeps it, and decides it. */
  isDirect: boolean;
}

export const createJob = (type: Job['type'], call: LedgerCall): Job => ({
  type,
  call,
  number: 0,
  isPending: false,
  isDirect: false,
});

/** Jobs that are committed together. */
export interface Batch {
  readonly jobs: Job[];
  /** Claims that are decided. */
  readonly claims: Map<ClaimWindow, Claim[]>;
  /** Claims that the commit decides before the jobs. */
  readonly asked: PendingClaim[];
  /** Windows of both. */
  readonly windows: Set<ClaimWindow>;
  /** Number of the last line of the journal that it stores. */
  last: number;
  /** Operations that the jobs need at most. */
  weight: number;
  /** Rows that jobs of the batch add to, which count once; see `JobQueue`. */
  readonly rows: Set<string>;
  /** Resolves when the whole batch is durable. */
  readonly durable: Deferred;
}

export const createBatch = (
  jobs: Job[] = [],
  { claims, asked }: Pick<Batch, 'claims' | 'asked'> = { claims: new Map(), asked: [] },
): Batch => ({
  jobs,
  claims,
  asked,
  windows: new Set([...claims.keys(), ...asked.map(({ window }) => window)]),
  // Those that only the store keeps have none.
  last: jobs.reduce((last, { number }) => Math.max(last, number), 0),
  weight: 0,
  rows: new Set(),
  durable: createDeferred(),
});

/** A batch in two: its claims and its jobs, or halves of its jobs; none where it holds only one thing. */
export function halvesOf({ jobs, claims, asked, weight }: Batch): Batch[] {
  const middle = claims.size + asked.length > 0 ? 0 : Math.ceil(jobs.length / 2);
  if (middle === jobs.length) return [];
  const halves = [
    createBatch(jobs.slice(0, middle), { claims, asked }),
    createBatch(jobs.slice(middle)),
  ];
  return halves.map((half) => ({ ...half, weight }));
}

/** True where the cost of a principal's call of the model may not exceed the rest of a limit. */
export function hasSpendingLimit(
  principal: Principal,
  { model, origin }: { model: string; origin: RequestOrigin | undefined },
): boolean {
  const owners = withConversation(ownersOf(principal), principal, origin);
  return owners.some(({ limits }) => limits !== undefined) || hasBindingBudget(principal, model);
}

/**
 * Returns the payers of a principal's calls; without a limit in any window there is none. Token caps and
 * budgets decide before the owners, for the call in question.
 *
 * @param owners default: new ones
 */
export function payersOf(
  principal: Principal,
  call?: PaidCall,
  owners = ownersOf(principal),
): readonly Payer[] {
  const all = withConversation(owners, principal, call?.origin);
  if (!call || (principal.budgets === undefined && principal.tokenCaps === undefined)) return all;
  return [...extraPayers(principal, call), ...all];
}

/** Payers of calls; what all calls of a principal have in common is made once. */
export function createPayersOf(): (start: RequestStart) => readonly Payer[] {
  const known = new WeakMap<Principal, readonly Payer[]>();
  return (start) => {
    const { principal } = start;
    let owners = known.get(principal);
    if (!owners) known.set(principal, (owners = ownersOf(principal)));
    return payersOf(principal, paidCall(start), owners);
  };
}

/**
 * Adds the conversation, which is a payer only under a limit, and only as a part of its key: its id is the
 * client's claim.
 */
function withConversation(
  owners: readonly Payer[],
  { keyId, conversationSpend: lifetime = null }: Principal,
  origin: RequestOrigin | undefined,
): readonly Payer[] {
  if (lifetime === null || origin?.conversation === undefined) return owners;
  const id = `${keyId}/${origin.conversation}`;
  const scope: Scope = { kind: 'conversation', id };
  return [...owners, { scope, limits: { lifetime }, refusal: 'key_spending_limit' }];
}

/** The key and the organization. */
function ownersOf(principal: Principal): readonly Payer[] {
  const { keyId, organizationId, keySpend, organizationSpend } = principal;
  return [
    {
      scope: { kind: 'key', id: keyId },
      limits: hasLimit(keySpend) ? keySpend : undefined,
      refusal: 'key_spending_limit',
    },
    {
      scope: { kind: 'organization', id: organizationId },
      limits: hasLimit(organizationSpend) ? organizationSpend : undefined,
      refusal: 'organization_spending_limit',
    },
  ];
}

/** Facts of a call that decide who pays for it. */
interface PaidCall extends BudgetedCall {
  readonly origin?: RequestOrigin | undefined;
}

/** A call as budgets see it: by the model that is to answer. */
function paidCall({ at, model, origin, downgrade }: RequestStart): PaidCall {
  return { at, origin, model: downgrade?.model ?? model, spared: downgrade?.spared };
}

/** A call before anything is done for it. */
export function createCall(
  start: RequestStart,
  windows: Windows,
  payers = payersOf(start.principal, paidCall(start)),
): LedgerCall {
  const isLimited = payers.some(({ limits }) => limits !== undefined);
  return {
    start,
    startRow: toStartRow(start, isLimited ? start.bound : 0),
    windows,
    payers,
    admitted: isLimited ? createDeferred() : undefined,
    settled: isLimited ? createDeferred() : undefined,
    flight: undefined,
    hold: undefined,
    takeovers: 0,
    lookup: undefined,
    soFar: undefined,
    place: 0,
    refusal: undefined,
    refusedBy: undefined,
    ended: undefined,
    batch: undefined,
    sliceTerm: 0,
    sliced: 0,
    isKept: false,
    done: false,
  };
}
