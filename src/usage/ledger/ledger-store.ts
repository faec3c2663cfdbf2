import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Store } from '../../store/store.ts';
import type { Budget } from '../budgets/budget.ts';
import { checkFunds } from '../spend/check-funds.ts';
import { createCall, createPayersOf, endedWith } from './ledger-call.ts';
import type { Job, LedgerCall } from './ledger-call.ts';
import type { Scope } from './ledger-keys.ts';
import type { LedgerState } from './ledger-plan.ts';
import { createState } from './ledger-state.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Journal } from '../journal/journal.ts';
import type { LedgerSync } from '../journal/journal.ts';
import type { Estimate, Ledger, LedgerEntry, RequestOutcome, RequestStart } from './ledger.ts';
import { toEndRow, withoutReserve } from '../requests/request-row.ts';
import { Recall } from '../slices/recall.ts';
import type { Slices } from '../slices/slices.ts';
import type { ClaimLedger } from '../rates/rate-window.ts';
import { DAY_MS, windowsOf } from '../spend/spend.ts';
import type { Windows } from '../spend/spend.ts';
import { createFactsOf } from '../sums/totals.ts';

/**
 * Time by which the start of a record must be durable (config: `server.ledger`). `before_call`: before anything
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
  /** Keeps calls until they are stored. Default: only the store. */
  journal?: {
    /** Folder of the segments. */
    readonly folder: string;
    readonly sync: LedgerSync | null;
    readonly isSole: () => boolean;
    readonly isKnown: () => boolean;
    /** Wait before a decision by the store; undefined: none. Rejects with `StoreError`. */
    readonly ready: () => Promise<void> | undefined;
  };
  /** Keep prompts and answers in the records. Default false. */
  logContent?: boolean;
  /**
   * Receives the errors that made the ledger fail, those of records that no store would take, and the loss of
   * confirmed commits. Default: no receiver.
   */
  report?: (error: unknown) => void;
  /** Receives the end of each call that was recorded although its caller got a failure. Default: no receiver. */
  onLanded?: (start: RequestStart, outcome: RequestOutcome) => void;
}

export interface StoreLedger extends Ledger {
  /** Beginnings and ends of calls, and claims on rates, that wait for their commit. */
  waiting(): number;
  readonly claims: ClaimLedger;
  /** True when the store holds everything that began or ended before; false when it is known to fail. */
  fold(): Promise<boolean>;
  /** Sets no money aside any more, so that a drain gives all of it up. */
  close(): void;
  /** Another process changed these counters. */
  forget(scopes: readonly Scope[]): void;
  /** Restarts from the stored rows: others may have changed everything. */
  startOver(): void;
}

/** The record of a call that was stored although its caller got `persistence_failed`. */
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
  const { store, clock, mode = 'auto', logContent = false, report = () => undefined } = options;
  const toWindows = createWindowsOf();
  const toFacts = createFactsOf();
  const toPayers = createPayersOf();
  const slicing = (): boolean => journal?.isOpen === true && !journal.isSole;
  const state = createState({ ...options, slicing: options.journal && slicing });
  const settle = (call: LedgerCall, outcome: RequestOutcome): void => {
    if (call.ended !== undefined) return;
    const start = call.refusal ? withoutReserve(call.startRow) : call.startRow;
    const record = toEndRow(start, withSoundCost(outcome, call.start.bound), logContent);
    call.ended = endedWith(record, toFacts(record, call.windows.day));
    state.followed.delete(call);
    // Nothing was reserved or sent, so nothing can be lost.
    if (call.refusal) call.settled?.resolve();
    // No reservation, so nothing to release.
    if (call.settled) void writer.push('settle', call);
    else writer.pushLater(call);
  };
  const onLanded = (call: LedgerCall): void => {
    settle(call, NOT_SENT);
    options.onLanded?.(call.start, NOT_SENT);
  };
  const ready = options.journal?.ready;
  const calling = openRecall(options, state, () => writer.giveUp());
  const recall = calling?.recall;
  const writer = new LedgerWriter({ store, clock, state, report, onLanded, ready, recall });
  const journal = openJournal(options, writer);

  return {
    begin(start): LedgerEntry {
      if (!writer.accepting) throw new GatewayError('persistence_failed');
      const call = createCall(start, toWindows(start.at), toPayers(start));
      const kept = writer.push('begin', call);
      const durable = call.admitted?.promise ?? unlessTurnedAway(call, kept);
      const isAwaited = call.admitted !== undefined || mode === 'before_call';
      return new Entry(call, { durable, isAwaited, writer, settle });
    },
    checkFunds: (principal) => {
      const at = clock.now();
      const isAlone = journal?.isSole === true;
      return checkFunds(state.counters, principal, { at, windows: toWindows(at), isAlone });
    },
    drain: () => writer.drain(),
    close() {
      calling?.close();
      state.slices.close();
    },
    waiting: () => writer.waiting,
    claims: createClaims(writer, journal, state.slices),
    fold: () => writer.fold(),
    forget(scopes) {
      for (const scope of scopes) state.counters.forget(scope);
    },
    startOver() {
      state.counters.forgetAll();
      journal?.rotate();
    },
  };
}

/** A call whose claims are decided by the commit that begins it may turn out not to begin. */
function unlessTurnedAway(call: LedgerCall, kept: Promise<void>): Promise<void> {
  if (!call.start.claims?.length) return kept;
  const begun = begunUnlessRefused(call, kept);
  begun.catch(() => undefined);
  return begun;
}

async function begunUnlessRefused(call: LedgerCall, kept: Promise<void>): Promise<void> {
  await kept;
  if (call.refusal) throw call.refusal;
}

function createClaims(
  writer: LedgerWriter,
  journal: Journal | undefined,
  slices: Slices,
): ClaimLedger {
  return {
    slices,
    get isJournaling() {
      return journal?.isSole === true && writer.accepting;
    },
    get folded() {
      return writer.folded;
    },
    add(window, { caller, at, slice }) {
      const number = journal?.claim(window.name, { caller, at, slice }) ?? 0;
      writer.addClaim(window, { caller, at, number, slice });
      return number;
    },
    ask(claim) {
      if (!writer.accepting) throw new GatewayError('persistence_failed');
      writer.ask(claim);
    },
  };
}

interface EntryParts {
  readonly durable: Promise<void>;
  /** The call waits for it before anything is sent. */
  readonly isAwaited: boolean;
  readonly writer: Pick<LedgerWriter, 'follow'>;
  readonly settle: (call: LedgerCall, outcome: RequestOutcome) => void;
}

class Entry implements LedgerEntry {
  readonly #call: LedgerCall;
  readonly #parts: EntryParts;

  constructor(call: LedgerCall, parts: EntryParts) {
    this.#call = call;
    this.#parts = parts;
  }

  get admitted(): Promise<void> | undefined {
    return this.#parts.isAwaited ? this.#parts.durable : undefined;
  }

  get durable(): Promise<void> {
    return this.#parts.durable;
  }

  get isDurable(): boolean {
    return this.#call.isKept && !this.#call.refusal;
  }

  get settled(): Promise<void> | undefined {
    return this.#call.settled?.promise;
  }

  get refusedBy(): Budget | undefined {
    return this.#call.refusedBy?.budget;
  }

  follow(soFar: () => Estimate): void {
    this.#parts.writer.follow(this.#call, soFar);
  }

  settle(outcome: RequestOutcome): void {
    this.#parts.settle(this.#call, outcome);
  }
}

function openRecall(
  { store, clock, journal, report = () => undefined }: LedgerOptions,
  { slices }: LedgerState,
  onRecall: () => void,
): Recall | undefined {
  return journal && new Recall({ store, clock, slices, onRecall, report });
}

function openJournal(
  { journal: setup, clock, worker, report = () => undefined }: LedgerOptions,
  writer: LedgerWriter,
): Journal | undefined {
  if (!setup) return undefined;
  const onUnkept = (jobs: readonly Job[]): void => writer.takeBack(jobs);
  const journal = new Journal({ ...setup, clock, worker, report, onUnkept });
  writer.attach(journal);
  return journal;
}

/** A provider that reports nonsense must neither be believed nor keep the record from being stored. */
function withSoundCost(outcome: RequestOutcome, bound: number): RequestOutcome {
  if (outcome.cost >= 0 && Number.isSafeInteger(outcome.cost)) return outcome;
  return { ...outcome, cost: bound, estimated: true };
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
