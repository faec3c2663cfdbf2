import type { ProcessPlace } from '../../core/liveness.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Entry, Op, Store } from '../../store/store.ts';
import { foldJournal } from '../journal/fold-journal.ts';
import { closeCalls } from './close-calls.ts';
import type { Closed, DeadWorker } from './close-calls.ts';
import { commitSpend } from '../ledger/commit-spend.ts';
import { FENCE_TTL_MS } from '../ledger/fence.ts';
import type { FenceRow } from '../ledger/fence.ts';
import type { FlightRow } from '../ledger/flights.ts';
import type { SentRow } from './followed-calls.ts';
import {
  fenceKey,
  FLIGHT,
  leaseKey,
  ROSTER,
  SENT,
  SLICE,
  UNFOLDED,
} from '../ledger/ledger-keys.ts';
import type { Estimate } from '../ledger/ledger.ts';
import { readRows } from '../ledger/read-rows.ts';
import { giveUp } from '../slices/give-up.ts';
import { workerOf } from '../slices/slice-rows.ts';
import type { SliceRow } from '../slices/slice-rows.ts';
import { toUnfoldedRow } from '../spend/spend-counters.ts';
import { windowsOfDay } from '../spend/spend.ts';
import { aliveWorkers } from '../ledger/worker-lease.ts';
import type { RosterRow } from '../ledger/worker-lease.ts';

const MAX_WORKERS = 10_000;
const MAX_ATTEMPTS = 50;
/** Calls that are closed in one commit. */
const MAX_CALLS = 80;

export interface RecoverOptions {
  readonly store: Store;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** True for a process that has ended; its lease is not waited for. Default: nothing is known. */
  readonly isGone?: ((place: ProcessPlace) => boolean) | undefined;
}

/**
 * Cleans up after workers whose lease ran out or whose process is gone: stores the lines of their journals,
 * adds their settlements to the counters, marks the records of their open calls `interrupted` and charges them
 * by estimate. Any number of processes may do it at once; each call is closed by one. Rejects with
 * `StoreError`.
 */
export async function recoverOpen({
  store,
  clock = systemClock,
  isGone = () => false,
}: RecoverOptions): Promise<Closed> {
  const roster = await store.list<RosterRow>({ prefix: ROSTER, limit: MAX_WORKERS });
  const alive = await aliveWorkers(store);
  const isEnded = ({ value }: Entry<RosterRow>): boolean =>
    value?.place !== undefined && isGone(value.place);
  const absent = roster.filter((entry) => !alive.has(String(entry.key[1])) || isEnded(entry));
  const recovered = { interrupted: 0, charged: 0 };
  if (absent.length === 0) return recovered;
  // Nothing of theirs is accepted from here on, should one of them only have been asleep.
  const dead = new Map<string, Op>();
  for (const entry of absent) {
    const worker = String(entry.key[1]);
    const mayBeAlive = !isEnded(entry);
    const fence = await fenceOff(store, worker, mayBeAlive);
    const isStored = fence && (await foldJournal({ store, clock, worker }));
    // The journal moved it on.
    const last = isStored === true ? await fenceOff(store, worker, mayBeAlive) : undefined;
    if (last) dead.set(worker, last);
  }
  for (const [worker, fence] of dead) {
    const lost = { store, worker, fence, sent: await readSent(store, worker) };
    for await (const entry of readRows<FlightRow>(store, [...FLIGHT, worker])) {
      const { interrupted, charged } = await closeFlight(lost, entry);
      recovered.interrupted += interrupted;
      recovered.charged += charged;
    }
    await dropSent(lost);
  }
  for await (const entry of readRows<number[]>(store, UNFOLDED)) await foldRow(store, entry, dead);
  // Nothing of a slice is used any more once the calls of its worker are closed.
  for await (const entry of readRows<SliceRow>(store, SLICE)) {
    const fence = dead.get(workerOf(entry));
    if (fence) await giveUp(store, entry, [fence]);
  }
  for (const { key, version } of absent) {
    const fence = dead.get(String(key[1]));
    // One that woke is entered again, and must be found when it dies.
    if (fence) await store.commit([fence, { type: 'delete', key, ifVersion: version }]);
  }
  return recovered;
}

/**
 * Returns the condition that holds until the worker wakes and commits: every change on its behalf depends on
 * it. Undefined when it did, or when one that may be alive has renewed its lease since.
 */
async function fenceOff(
  store: Store,
  worker: string,
  mayBeAlive: boolean,
): Promise<Op | undefined> {
  const key = fenceKey(worker);
  const lease = leaseKey(worker);
  const conditions: Op[] = mayBeAlive ? [{ type: 'check', key: lease, ifAbsent: true }] : [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const entry = await store.get<FenceRow>(key);
    if (entry?.value.dead) return { type: 'check', key, ifVersion: entry.version };
    const folded = entry?.value.folded;
    const value: FenceRow = {
      seq: entry?.value.seq ?? 0,
      dead: true,
      ...(folded !== undefined && { folded }),
    };
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    const put: Op = { type: 'put', key, value, ttlMs: FENCE_TTL_MS, ...condition };
    const result = await store.commit([put, ...conditions]);
    if (result.ok) return { type: 'check', key, ifVersion: result.version };
    if (result.conflict[0] === lease[0]) return undefined;
  }
  return undefined;
}

/** Closes what began in one commit, and drops its row once all of that has ended. */
async function closeFlight(dead: DeadWorker, { key, value }: Entry<FlightRow>): Promise<Closed> {
  const sum = { interrupted: 0, charged: 0 };
  for (let from = 0; from < value.length; from += MAX_CALLS) {
    const { interrupted, charged } = await closeCalls(dead, value.slice(from, from + MAX_CALLS));
    sum.interrupted += interrupted;
    sum.charged += charged;
  }
  await dead.store.commit([dead.fence, { type: 'delete', key }]);
  return sum;
}

async function readSent(store: Store, worker: string): Promise<Map<string, Estimate>> {
  const sent = new Map<string, Estimate>();
  for await (const { value } of readRows<SentRow>(store, [...SENT, worker])) {
    for (const [id, input, output, cost] of value) sent.set(id, { input, output, cost });
  }
  return sent;
}

async function dropSent({ store, worker, fence }: DeadWorker): Promise<void> {
  for await (const { key } of readRows(store, [...SENT, worker])) {
    await store.commit([fence, { type: 'delete', key }]);
  }
}

async function foldRow(
  store: Store,
  entry: Entry<number[]>,
  dead: ReadonlyMap<string, Op>,
): Promise<void> {
  const { scope, day, worker, amount } = toUnfoldedRow(entry);
  const fence = dead.get(worker);
  if (!fence) return;
  const change = { settled: amount, reserved: 0 };
  await commitSpend(
    store,
    [fence, { type: 'delete', key: entry.key, ifVersion: entry.version }],
    [{ scope, windows: windowsOfDay(day), change }],
  );
}
