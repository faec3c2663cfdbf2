import { StoreError } from '../../store/store.ts';
import type { Entry, Op, Store } from '../../store/store.ts';
import { addToTotals } from '../ledger/add-to-totals.ts';
import { commitSpend } from '../ledger/commit-spend.ts';
import { amountIn, tokensIn } from '../budgets/token-caps.ts';
import type { Amounts } from '../budgets/token-caps.ts';
import type { SpendChange } from '../ledger/commit-spend.ts';
import type { FlightMember } from '../ledger/flights.ts';
import {
  chargedScopes,
  chargeKey,
  handedKey,
  holdKey,
  openKey,
  requestKey,
} from '../ledger/ledger-keys.ts';
import { reservationsOf } from '../ledger/open-row.ts';
import type { OpenRow } from '../ledger/open-row.ts';
import type { Estimate } from '../ledger/ledger.ts';
import { sumsOf, toInterruptedRow } from '../requests/request-row.ts';
import type { EndRow } from '../requests/request-row.ts';
import { windowsOf } from '../spend/spend.ts';

/** Conflicts in a row; each means that another process closed some of the calls. */
const MAX_ATTEMPTS = 50;
/** All calls of a day, key and model that are closed so share one row of sums. */
const WRITER = 'recovered';

export interface DeadWorker {
  readonly store: Store;
  readonly worker: string;
  /** Holds for as long as the worker does not wake. */
  readonly fence: Op;
  /** Costs so far, by call. */
  readonly sent: ReadonlyMap<string, Estimate>;
}

export interface Closed {
  /** Records marked `interrupted`. */
  interrupted: number;
  /** Nano-dollars, charged by estimate. */
  charged: number;
}

/** A call whose process died before its end was recorded. */
interface OpenCall {
  readonly id: string;
  readonly record: EndRow;
  readonly hold: Entry<OpenRow> | undefined;
  /** Reservation of a task that the call started, where it has none yet. */
  readonly task: string | undefined;
}

/**
 * Ends the calls that have no final record: charges each for the part known to have been sent, or else its
 * reserved bound, or without a limit the estimate of its prompt. Record, charge, sums and the end of the
 * reservation are one commit, so each call is closed once, by whichever process is first. Rejects with
 * `StoreError`.
 */
export async function closeCalls(
  dead: DeadWorker,
  members: readonly FlightMember[],
): Promise<Closed> {
  const { store, fence } = dead;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await Promise.all(members.map((member) => findOpen(dead, member)));
    const calls = found.filter((call) => call !== undefined);
    if (calls.length === 0) break;
    const records = calls.map(({ record }) => record);
    const ops = [fence, ...calls.flatMap(toOps), ...(await addToTotals(store, WRITER, records))];
    const result = await commitSpend(store, ops, calls.flatMap(toChanges));
    if (result.ok) {
      const charged = records.reduce((sum, [, , , , , , , , cost]) => sum + cost, 0);
      return { interrupted: calls.length, charged };
    }
    // It woke, and ends its calls itself.
    if (result.conflict[0] === 'fence') break;
    if (attempt === MAX_ATTEMPTS - 1)
      throw new StoreError('unavailable', 'others kept changing the same sums');
  }
  return { interrupted: 0, charged: 0 };
}

/** Undefined for a call that has ended. */
async function findOpen(
  { store, worker, sent }: DeadWorker,
  [id, start, input = 0, cost = 0]: FlightMember,
): Promise<OpenCall | undefined> {
  const [ended, hold, handed] = await Promise.all([
    store.get(requestKey(id)),
    store.get<OpenRow>(openKey(worker, id)),
    store.get<string>(handedKey(id)),
  ]);
  if (ended) return undefined;
  if (handed) {
    const task = hold && (await isUnpaid(store, handed.value)) ? handed.value : undefined;
    return { id, record: toInterruptedRow(start, null), hold, task };
  }
  const known = sent.get(id) ?? { input, output: 0, cost };
  const estimate = hold ? { ...known, cost: withinBound(hold.value, sent.get(id)) } : known;
  return { id, record: toInterruptedRow(start, estimate), hold, task: undefined };
}

function withinBound({ bound }: OpenRow, sent: Estimate | undefined): number {
  return sent ? Math.min(sent.cost, bound) : bound;
}

/** True for a task that nothing is reserved for and that is not over. */
async function isUnpaid(store: Store, task: string): Promise<boolean> {
  const rows = await Promise.all([store.get(holdKey(task)), store.get(chargeKey(task))]);
  return rows.every((row) => row === undefined);
}

function toOps({ id, record, hold, task }: OpenCall): Op[] {
  const ops: Op[] = [{ type: 'put', key: requestKey(id), value: record, ifAbsent: true }];
  if (hold) ops.push({ type: 'delete', key: hold.key, ifVersion: hold.version });
  if (hold && task !== undefined) {
    ops.push({ type: 'put', key: holdKey(task), value: hold.value, ifAbsent: true });
    ops.push({ type: 'check', key: chargeKey(task), ifAbsent: true });
  }
  return ops;
}

function toChanges({ record, hold, task }: OpenCall): SpendChange[] {
  const [[at, organizationId, keyId], , , , , , , , cost] = record;
  const windows = windowsOf(at);
  const payers = chargedScopes({ keyId, organizationId }, hold?.value);
  const spent: Amounts = { cost, tokens: tokensIn(sumsOf(record)) };
  const charges = payers
    .map((scope) => ({ scope, windows, change: { settled: amountIn(scope, spent), reserved: 0 } }))
    .filter(({ change }) => change.settled > 0);
  if (!hold || task !== undefined) return charges;
  return [...charges, ...reservationsOf(hold.value, -1)];
}
