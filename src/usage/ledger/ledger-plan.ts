import type { Entry, Op, Version } from '../../store/store.ts';
import { EncodedValue, fromEnvelope } from '../../store/value-codec.ts';
import { amountIn, tokensIn } from '../budgets/token-caps.ts';
import type { Amounts } from '../budgets/token-caps.ts';
import { createFlightDraft } from './flights.ts';
import type { FlightDraft } from './flights.ts';
import type { FollowedCalls } from '../recovery/followed-calls.ts';
import type { Ended, Job, LedgerCall } from './ledger-call.ts';
import { limitedScopes } from '../spend/payer.ts';
import { endedWith } from './ledger-call.ts';
import { openKey, requestKey } from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import type { ClaimDraft, ClaimWindow, Claimed } from '../rates/claims.ts';
import { planClaims } from '../rates/pending-claim.ts';
import type { PendingClaim, PlannedClaims } from '../rates/pending-claim.ts';
import { sumsOf, withCost } from '../requests/request-row.ts';
import type { EndRow } from '../requests/request-row.ts';
import { SliceDraft } from '../slices/slice-draft.ts';
import type { Slices } from '../slices/slices.ts';
import type { Payer } from '../spend/payer.ts';
import { refuse } from '../spend/refuse.ts';
import type { PendingSpend } from '../spend/pending-spend.ts';
import type { SpendCounters, SpendDraft } from '../spend/spend-counters.ts';
import type { OpenRow } from './open-row.ts';
import type { CallSums, CallSumsDraft } from '../sums/call-sums.ts';
import { factsOf } from '../sums/totals.ts';
import type { UnfoldedDraft, UnfoldedSpend } from './unfolded-spend.ts';

/** State of the ledger of one worker between commits. */
export interface LedgerState {
  readonly worker: string;
  readonly pending: PendingSpend;
  readonly counters: SpendCounters;
  readonly unfolded: UnfoldedSpend;
  /** State of {@link sumsOf}. */
  readonly sums: CallSums;
  readonly followed: FollowedCalls;
  readonly slices: Slices;
  /** Times that others marked this worker as dead and closed its calls. */
  takeovers: number;
  /** The number of the next flight. */
  nextFlight(): number;
}

/** One commit: its operations, and what to remember once it is durable. */
export interface Plan {
  readonly ops: Op[];
  readonly jobs: readonly Job[];
  /** Nothing is stored and nothing is to be remembered. */
  readonly isEmpty: boolean;
  /** Scopes in which others are to give up their slices first; not empty: the plan is to be made again then. */
  readonly recalled: readonly Scope[];
  keep(version: Version): void;
}

/** The part of a batch that a commit is to store. */
export interface PlannedWork {
  readonly jobs: readonly Job[];
  readonly claims: ReadonlyMap<ClaimWindow, Claimed>;
  /** Claims that it decides. */
  readonly asked: readonly PendingClaim[];
  /** Calls whose end another worker has stored: only their part of a flight is left. */
  readonly over?: readonly LedgerCall[];
}

/** A plan in the making. */
interface Draft {
  readonly state: LedgerState;
  readonly ops: Op[];
  readonly flights: FlightDraft;
  readonly spend: SpendDraft;
  readonly unfolded: UnfoldedDraft;
  readonly sums: CallSumsDraft;
  readonly slices: SliceDraft;
  readonly held: LedgerCall[];
  readonly ending: Set<LedgerCall>;
}

/**
 * Turns jobs into one commit, in their order. Refusals are part of the plan: the counters that were
 * looked at are checked, so a decision is only ever taken on the state that is committed upon.
 */
export function planJobs(
  state: LedgerState,
  { jobs, claims, asked, over = [] }: PlannedWork,
): Plan {
  const plans = planClaims(asked, ({ scope }) => !state.slices.isWaived(scope));
  const claimed = draftClaims(claims, plans);
  const ownDraft = state.unfolded.draft();
  const money = state.counters.draft(ownDraft.own);
  const draft: Draft = {
    state,
    ops: [],
    flights: createFlightDraft(state),
    spend: money,
    unfolded: ownDraft,
    sums: state.sums.draft(),
    slices: new SliceDraft(state.slices, money),
    held: [],
    ending: new Set(),
  };
  const { ops, flights, spend, unfolded, sums, slices, held, ending } = draft;
  for (const { type, call } of jobs) if (type === 'settle') ending.add(call);
  for (const job of jobs) {
    if (job.type === 'begin') planBegin(draft, job);
    else if (job.call.ended) planSettle(draft, job.call, job.call.ended);
  }
  for (const call of over) flights.end(call);
  slices.settle();
  ops.push(...flights.ops(), ...slices.ops(), ...spend.ops(), ...unfolded.ops(), ...sums.ops());
  ops.push(...claimed.flatMap((each) => each.ops));
  return {
    ops,
    jobs,
    isEmpty: ops.length === 0 && over.length === 0,
    recalled: [...slices.recalled, ...recalledIn(plans)],
    keep(version) {
      flights.keep();
      slices.keep(version);
      spend.keep(version);
      unfolded.keep(version);
      sums.keep(version);
      for (const call of held) call.hold = version;
      for (const call of ending) call.done = true;
      for (const each of claimed) each.keep(version);
      for (const job of jobs) removePending(state, job);
    },
  };
}

type ClaimPlans = ReadonlyMap<ClaimWindow, PlannedClaims>;

function draftClaims(claims: PlannedWork['claims'], plans: ClaimPlans): ClaimDraft[] {
  const windows = new Set([...claims.keys(), ...plans.keys()]);
  return [...windows].flatMap((window) => {
    const noted = claims.get(window);
    const { taken, isFreed = false } = plans.get(window) ?? {};
    const isAny = taken !== undefined && taken.all > 0;
    // A call that is turned away changes nothing.
    if (!noted && !isAny) return [];
    return window.draft({ noted, taken: isAny ? taken : undefined, isFreed });
  });
}

function recalledIn(plans: ClaimPlans): Scope[] {
  return Array.from(plans).flatMap(([{ scope }, { isRecalled }]) => (isRecalled ? [scope] : []));
}

/** Counts the money of a job that is kept before it is stored. */
export function addPending(state: LedgerState, job: Job): void {
  job.isPending = true;
  countPending(state, job, 'add');
}

/** Removes it from the counts; it is stored, or never will be. Idempotent. */
export function removePending(state: LedgerState, job: Job): void {
  if (!job.isPending) return;
  job.isPending = false;
  countPending(state, job, 'remove');
}

function countPending(
  { pending }: LedgerState,
  { type, call }: Job,
  change: 'add' | 'remove',
): void {
  const isEnd = type === 'settle';
  const amounts = isEnd ? amountsOf(call.ended) : NOTHING;
  for (const { scope, limits } of call.payers) {
    const settled = amountIn(scope, amounts);
    const held = limits && !(isEnd && call.refusal) ? reservedIn(scope, call) : 0;
    const reserved = isEnd ? -held : held;
    if (settled !== 0 || reserved !== 0)
      pending[change](scope, call.windows, { settled, reserved });
  }
}

/** Amount that an open call holds in a scope. */
const reservedIn = (scope: Scope, { start: { bound, tokens = 0 } }: LedgerCall): number =>
  amountIn(scope, { cost: bound, tokens });

const NOTHING: Amounts = { cost: 0, tokens: 0 };

const amountsOf = (ended: Pick<Ended, 'cost' | 'sums'> | undefined): Amounts =>
  ended ? { cost: ended.cost, tokens: tokensIn(ended.sums) } : NOTHING;

function planBegin(draft: Draft, { call, isPending }: Job): void {
  const { state, ops, flights, spend, slices, held, ending } = draft;
  const turnedAway = call.start.claims?.find(({ isAccepted }) => !isAccepted);
  if (turnedAway) turnAway(call, turnedAway);
  // A call that the journal took was decided then.
  else if (!isPending) decide(call, refuserIn(draft, call), spend);
  // A call that ends in the commit that begins it needs no reservation, its final record says it all.
  const isOver = ending.has(call);
  const { at, bound, tokens, id } = call.start;
  if (isPending) slices.store(call, isOver ? (call.ended?.cost ?? 0) : bound);
  if (call.refusal === undefined && !isPending) slices.begin(call);
  if (call.refusal !== undefined || isOver) return;
  flights.begin(call);
  const scopes = limitedScopes(call);
  if (scopes.length === 0) return;
  const open: OpenRow = { at, bound, scopes, ...(tokens !== undefined && { tokens }) };
  ops.push({ type: 'put', key: openKey(state.worker, id), value: open });
  for (const scope of scopes)
    spend.add(scope, call.windows, { settled: 0, reserved: reservedIn(scope, call) });
  held.push(call);
}

/** Payer whose limit a call does not fit, this worker's slice included; slices of others are recalled. */
function refuserIn({ spend, slices }: Draft, call: LedgerCall): Payer | undefined {
  const first = refuserOf(call, spend);
  const isFreed = first && slices.free(limitedScopes(call));
  const refuser = isFreed ? refuserOf(call, spend) : first;
  return refuser && slices.recalls(refuser, call) ? undefined : refuser;
}

function planSettle(draft: Draft, call: LedgerCall, told: Ended): void {
  const { state, ops, flights, spend, unfolded, slices } = draft;
  const { start, hold, windows, lookup } = call;
  if (hold !== undefined) slices.store(call, 0);
  const before = lookup?.record;
  const ended = before ? withinLimits(call, { told, before, spend }) : told;
  const charged = amountsOf(before && { cost: chargedBy(before), sums: sumsOf(before.value) });
  const due = amountsOf(ended);
  if (hold !== undefined) {
    ops.push({ type: 'delete', key: openKey(state.worker, start.id), ifVersion: hold });
  }
  for (const { scope, limits } of call.payers) {
    const settled = amountIn(scope, due) - amountIn(scope, charged);
    const reserved = hold === undefined ? 0 : -reservedIn(scope, call);
    if (limits && (settled !== 0 || reserved !== 0)) {
      spend.add(scope, windows, { settled, reserved });
    } else if (!limits && settled !== 0) {
      unfolded.add(scope, windows.day, settled);
    }
  }
  flights.end(call);
  const record: Op = { type: 'put', key: requestKey(start.id), value: ended.record };
  ops.push(lookup ? { ...record, ...conditionOf(lookup) } : record);
  addSums(draft, call, { ended, before: before?.value });
}

/** Others may close a call of a worker that they consider dead until it commits again. */
function conditionOf({
  record,
}: NonNullable<LedgerCall['lookup']>): { ifVersion: Version } | { ifAbsent: true } {
  return record ? { ifVersion: record.version } : { ifAbsent: true };
}

/** Nano-dollars. */
function chargedBy({ value }: Entry<EndRow>): number {
  return value[8];
}

/**
 * Others may have spent the difference to the estimate while the worker slept. A limit is never exceeded, so
 * then the estimate is charged.
 */
function withinLimits(
  call: LedgerCall,
  { told: ended, before, spend }: { told: Ended; before: Entry<EndRow>; spend: SpendDraft },
): Ended {
  const charged = chargedBy(before);
  if (ended.cost <= charged) return ended;
  const question = { windows: call.windows, bound: ended.cost - charged };
  const isTooMuch = call.payers.some(
    ({ scope, limits }) =>
      limits && scope.kind !== 'tokens' && spend.exceeds(scope, limits, question),
  );
  if (!isTooMuch) return ended;
  const record = withCost(rowOf(ended), charged);
  return { ...ended, record, cost: charged, sums: sumsOf(record) };
}

function rowOf({ record }: Ended): EndRow {
  return record instanceof EncodedValue ? fromEnvelope(record.envelope) : record;
}

function addSums(
  { sums }: Draft,
  { windows }: LedgerCall,
  { ended, before }: { ended: Ended; before: EndRow | undefined },
): void {
  if (before) {
    const counted = sumsOf(before).map((amount) => -amount);
    sums.add(endedWith(before, factsOf(before, windows.day)), counted);
  }
  sums.add(ended, ended.sums);
}

/**
 * Decides a call by the counters as this worker knows them; false where the store has to decide. Correct only
 * for a worker in exclusive mode.
 */
export function decideNow({ counters }: LedgerState, call: LedgerCall): boolean {
  let isKnown = true;
  const exceeds: SpendDraft['exceeds'] = (scope, limits, question) => {
    const answer = counters.exceeds(scope, limits, question);
    isKnown &&= answer !== undefined;
    return answer === true;
  };
  const refuser = refuserOf(call, { exceeds });
  if (isKnown) decide(call, refuser, counters);
  return isKnown;
}

type KnownSpend = Pick<SpendCounters, 'spent'>;

/** Refuses a call by the payer whose limit it does not fit; lets it in where there is none. */
function decide(call: LedgerCall, by: Payer | undefined, spend: KnownSpend): void {
  const { start, windows } = call;
  call.refusedBy = by;
  call.refusal = by && refuse(by, { ...start, windows }, spend.spent(by.scope));
}

function turnAway(call: LedgerCall, by: PendingClaim): void {
  call.refusedBy = undefined;
  call.refusal = by.toRefusal();
}

/** The first whose limit the call does not fit. */
function refuserOf(call: LedgerCall, spend: Pick<SpendDraft, 'exceeds'>): Payer | undefined {
  const { windows, start, payers } = call;
  return payers.find(({ scope, limits }) => {
    const isOfTokens = scope.kind === 'tokens';
    // Tokens are refused from the cap on: what a call may use at most is known too roughly.
    const bound = isOfTokens ? 1 : start.bound;
    const held = isOfTokens ? start.tokens : bound;
    return limits && spend.exceeds(scope, limits, { windows, bound, held });
  });
}
