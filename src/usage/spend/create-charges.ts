import { createHash } from 'node:crypto';
import { systemClock } from '../../core/time/clock.ts';
import { createIdSource } from '../../core/ids.ts';
import { GatewayError } from '../../core/errors.ts';
import { StoreError } from '../../store/store.ts';
import type { Entry, Op, Store } from '../../store/store.ts';
import { amountIn, tokensIn } from '../budgets/token-caps.ts';
import { addToTotals } from '../ledger/add-to-totals.ts';
import type { Charge, Charges, Hold } from './charges.ts';
import { commitSpend } from '../ledger/commit-spend.ts';
import { limitedScopes } from './payer.ts';
import { payersOf } from '../ledger/ledger-call.ts';
import { chargedScopes, chargeKey, holdKey, requestKey } from '../ledger/ledger-keys.ts';
import { reservationsOf } from '../ledger/open-row.ts';
import type { OpenRow } from '../ledger/open-row.ts';
import type { RequestOutcome } from '../ledger/ledger.ts';
import { sumsOf, toEndRow, toStartRow } from '../requests/request-row.ts';
import { windowsOf } from './spend.ts';

/** No task runs nearly so long; later there is no further request for it. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;
/** Conflicts in a row on the sums of one day, key and model. */
const MAX_ATTEMPTS = 50;
/** All late charges of a day, key and model share one row, whichever process makes them. */
const WRITER = 'charges';

export interface ChargesOptions {
  readonly store: Store;
  /** Receives each charge that this process made, with the id of its record. */
  readonly observe?: (charge: Charge, recordId: string) => void;
}

/**
 * Late charges on a store. The charge, its count and the release are one commit that succeeds only while the
 * task is not charged for, so neither two processes at once nor one that dies in the middle can charge twice or
 * lose a charge.
 */
export function createCharges({ store, observe = () => undefined }: ChargesOptions): Charges {
  return {
    hold: (hold) => told(putHold(store, hold)),
    async charge(asked) {
      const charge = { ...asked, outcome: withSoundCost(asked.outcome) };
      const recordId = recordIdOf(charge);
      if (await told(putCharge(store, charge, recordId))) observe(charge, recordId);
    },
    release: (id) => told(dropHold(store, id)),
  };
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new GatewayError('persistence_failed', { cause });
  }
}

async function putHold(
  store: Store,
  { id, principal, origin, at, model, bound }: Hold,
): Promise<void> {
  const scopes = limitedScopes({ payers: payersOf(principal, { at, model, origin }) });
  if (scopes.length === 0 || bound <= 0) return;
  const value: OpenRow = { at, bound, scopes };
  const ops: Op[] = [
    { type: 'put', key: holdKey(id), value, ifAbsent: true },
    { type: 'check', key: chargeKey(id), ifAbsent: true },
  ];
  await commitSpend(store, ops, reservationsOf(value, 1));
}

async function dropHold(store: Store, id: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await store.get(chargeKey(id))) return;
    const held = await store.get<OpenRow>(holdKey(id));
    const freed = held ? reservationsOf(held.value, -1) : [];
    const { ok } = await commitSpend(store, [toEnd(id, null), toFree(id, held)], freed);
    if (ok) return;
  }
  throw tooBusy();
}

/** False when it is over already. */
async function putCharge(store: Store, charge: Charge, recordId: string): Promise<boolean> {
  const { id, principal, at, outcome } = charge;
  const windows = windowsOf(at);
  const record = toEndRow(toStartRow({ ...charge, stream: false }), outcome, false);
  const amounts = { cost: outcome.cost, tokens: tokensIn(sumsOf(record)) };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await store.get(chargeKey(id))) return false;
    const held = await store.get<OpenRow>(holdKey(id));
    const ops: Op[] = [
      toEnd(id, recordId),
      toFree(id, held),
      { type: 'put', key: requestKey(recordId), value: record },
      ...(await addToTotals(store, WRITER, [record])),
    ];
    const scopes = chargedScopes(principal, held?.value);
    const spent = scopes.map((scope) => {
      return { scope, windows, change: { settled: amountIn(scope, amounts), reserved: 0 } };
    });
    const freed = held ? reservationsOf(held.value, -1) : [];
    const { ok } = await commitSpend(store, ops, [...spent, ...freed]);
    if (ok) return true;
  }
  throw tooBusy();
}

/** The task is over, charged for by the record or not at all: refused when it was over before. */
function toEnd(id: string, recordId: string | null): Op {
  const ttlMs = REMEMBERED_MS;
  return { type: 'put', key: chargeKey(id), value: recordId, ifAbsent: true, ttlMs };
}

function toFree(id: string, held: Entry | undefined): Op {
  const key = holdKey(id);
  return held
    ? { type: 'delete', key, ifVersion: held.version }
    : { type: 'check', key, ifAbsent: true };
}

function tooBusy(): StoreError {
  return new StoreError('unavailable', 'others kept changing the same sums');
}

/** A provider that reports nonsense must not keep the record from being stored. */
function withSoundCost(outcome: RequestOutcome): RequestOutcome {
  if (outcome.cost >= 0 && Number.isSafeInteger(outcome.cost)) return outcome;
  return { ...outcome, cost: 0, estimated: true };
}

/** `req_…` of the instant of the charge, the same for every process that charges for this task. */
function recordIdOf({ id, at }: Charge): string {
  const digest = createHash('sha256').update(id).digest();
  const source = createIdSource({ ...systemClock, now: () => at }, (size) =>
    digest.subarray(0, size),
  );
  return source.next('req');
}
