import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Store } from '../../store/store.ts';
import { checkFunds } from '../spend/check-funds.ts';
import { createDeferred, payersOf } from './ledger-call.ts';
import type { LedgerCall } from './ledger-call.ts';
import { LedgerJournal } from './ledger-journal.ts';
import { FollowedCalls } from '../recovery/followed-calls.ts';
import type { LedgerState } from './ledger-plan.ts';
import type { Ledger, LedgerEntry, RequestOutcome, RequestStart } from './ledger.ts';
import { toStartRow } from '../requests/request-row.ts';
import { createSpendCounters } from '../spend/spend-counters.ts';
import { DAY_MS, windowsOf } from '../spend/spend.ts';
import type { Windows } from '../spend/spend.ts';
import { createSumRows } from './sum-rows.ts';
import { createUnfoldedSpend } from './unfolded-spend.ts';

/**
 * When the start of a record must be durable (config: `server.ledger`). `before_call`: before anything
 * is sent. `auto` and `during_call`: before the call where a spending limit applies, since only then a
 * limit holds, else at the same time as the call.
 */
export type LedgerMode = 'auto' | 'before_call' | 'during_call';

export interface LedgerOptions {
  store: Store;
  clock: Clock;
  /** Unique for every start of a process; its lease is held by {@link createWorkerLease}. */
  worker: string;
  /** Default `auto`. */
  mode?: LedgerMode;
  /** Keep prompts and answers in the records. Default false. */
  logContent?: boolean;
  /**
   * Receives the errors that made the ledger fail, and those of records that no store would take.
   * Default: nobody.
   */
  report?: (error: unknown) => void;
}

export interface StoreLedger extends Ledger {
  /** Beginnings and ends of calls that wait for their commit. */
  waiting(): number;
}

/** The record of a call whose caller was told that it could not be recorded, but that was. */
const NOT_SENT: RequestOutcome = {
  status: 500,
  result: 'error',
  errorCode: 'persistence_failed',
  attempts: [],
  usage: NO_USAGE,
  estimated: false,
  cost: 0,
  losses: [],
  overheadUs: 0,
  firstContentMs: null,
  totalMs: 0,
};

/**
 * Request records, spending limits and usage sums on a store (contract: Limits; design: inference 6
 * and 7). All requests of one event-loop turn share one commit. Reservations are exact over every
 * process on the store, and each call is charged exactly once, also when the store or a worker fails.
 */
export function createLedger(options: LedgerOptions): StoreLedger {
  const { store, clock, mode = 'auto', report = () => undefined } = options;
  const toWindows = createWindowsOf();
  const state = createState(options);
  const settle = (call: LedgerCall, outcome: RequestOutcome): void => {
    if (call.outcome !== undefined) return;
    call.outcome = withSoundCost(outcome, call.start.bound);
    state.followed.delete(call);
    // Nothing was reserved or sent: nobody can lose by it.
    if (call.refusal) call.settled?.resolve();
    // Without a reservation nobody waits for what comes back.
    if (call.admitted) journal.push({ type: 'settle', call });
    else journal.pushLater({ type: 'settle', call });
  };
  const onLanded = (call: LedgerCall): void => settle(call, NOT_SENT);
  const journal = new LedgerJournal({ store, clock, state, report, onLanded });

  return {
    begin(start): LedgerEntry {
      if (!journal.accepting) throw new GatewayError('persistence_failed');
      const call = toCall(start, toWindows(start.at));
      const batch = journal.push({ type: 'begin', call });
      const durable = call.admitted?.promise ?? batch.durable.promise;
      return {
        admitted: call.admitted || mode === 'before_call' ? durable : undefined,
        durable,
        settled: call.settled?.promise,
        follow: (soFar) => journal.follow(call, soFar),
        settle: (outcome) => settle(call, outcome),
      };
    },
    checkFunds: (principal) => checkFunds(state.counters, principal, toWindows(clock.now())),
    drain: () => journal.drain(),
    waiting: () => journal.waiting,
  };
}

/** A provider that reports nonsense must neither be believed nor cost the record its place in the store. */
function withSoundCost(outcome: RequestOutcome, bound: number): RequestOutcome {
  if (outcome.cost >= 0 && Number.isSafeInteger(outcome.cost)) return outcome;
  return { ...outcome, cost: bound, estimated: true };
}

function createState({ store, clock, worker, logContent = false }: LedgerOptions): LedgerState {
  let writers = 0;
  let flights = 0;
  const nextWriter = (): string => `${worker}-${clock.now().toString(36)}-${++writers}`;
  const unfolded = createUnfoldedSpend(worker, nextWriter);
  const totals = createSumRows();
  let totalsWriter = nextWriter();
  return {
    worker,
    logContent,
    unfolded,
    totals,
    followed: new FollowedCalls(worker),
    takeovers: 0,
    counters: createSpendCounters({ store, isOwn: unfolded.isOwn, own: unfolded.own }),
    nextFlight: () => ++flights,
    get totalsWriter() {
      return totalsWriter;
    },
    renewTotals() {
      totals.clear();
      totalsWriter = nextWriter();
    },
  };
}

function toCall(start: RequestStart, windows: Windows): LedgerCall {
  const { key, organization } = payersOf(start.principal);
  const isLimited = key.limits !== undefined || organization.limits !== undefined;
  return {
    start,
    startRow: toStartRow(start),
    windows,
    key,
    organization,
    admitted: isLimited ? createDeferred() : undefined,
    settled: isLimited ? createDeferred() : undefined,
    flight: undefined,
    hold: undefined,
    takeovers: 0,
    lookup: undefined,
    soFar: undefined,
    place: 0,
    refusal: undefined,
    outcome: undefined,
    done: false,
  };
}

/** Remembers the windows of the last day asked for: formatting a date per request would be felt. */
function createWindowsOf(): (at: number) => Windows {
  let day = Number.NaN;
  let windows = windowsOf(0);
  return (at) => {
    const asked = Math.floor(at / DAY_MS);
    if (asked !== day) {
      day = asked;
      windows = windowsOf(at);
    }
    return windows;
  };
}
