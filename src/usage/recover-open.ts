import type { Entry, Op, Store } from '../store/store.ts';
import { commitSpend } from './commit-spend.ts';
import type { FenceRow } from './fence.ts';
import type { FlightRow } from './flights.ts';
import { fenceKey, FLIGHT, OPEN, requestKey, ROSTER, UNFOLDED } from './ledger-keys.ts';
import type { OpenRow } from './ledger-plan.ts';
import { readRows } from './read-rows.ts';
import { toInterruptedRow } from './request-row.ts';
import { toUnfoldedRow } from './spend-counters.ts';
import { windowsOf, windowsOfDay } from './spend.ts';
import { aliveWorkers } from './worker-lease.ts';

const MAX_WORKERS = 10_000;
const MAX_ATTEMPTS = 50;
const FENCE_TTL_MS = 24 * 3_600_000;

export interface Recovered {
  /** Reservations released. */
  released: number;
  /** Records marked `interrupted`. */
  interrupted: number;
}

/**
 * Cleans up after workers whose lease ran out: releases their reservations, adds what they settled to
 * the counters and marks the records of their open calls `interrupted`. Any number of processes may do
 * it at once; each reservation is released by one. Rejects with `StoreError`.
 */
export async function recoverOpen({ store }: { store: Store }): Promise<Recovered> {
  const roster = await store.list({ prefix: ROSTER, limit: MAX_WORKERS });
  const alive = await aliveWorkers(store);
  const absent = roster.filter(({ key }) => !alive.has(String(key[1])));
  const recovered = { released: 0, interrupted: 0 };
  if (absent.length === 0) return recovered;
  // From here on nothing of theirs is accepted any more, should one of them only have been asleep.
  const dead = new Map<string, Op>();
  for (const { key } of absent) {
    const fence = await fenceOff(store, String(key[1]));
    if (fence) dead.set(String(key[1]), fence);
  }
  for (const [worker, fence] of dead) {
    for await (const entry of readRows<OpenRow>(store, [...OPEN, worker])) {
      if (await release(store, entry, fence)) recovered.released++;
    }
    for await (const entry of readRows<FlightRow>(store, [...FLIGHT, worker])) {
      recovered.interrupted += await interrupt(store, entry, fence);
    }
  }
  for await (const entry of readRows<number[]>(store, UNFOLDED)) await foldRow(store, entry, dead);
  for (const { key, version } of absent) {
    const fence = dead.get(String(key[1]));
    // One that woke is entered anew, and must be found when it dies.
    if (fence) await store.commit([fence, { type: 'delete', key, ifVersion: version }]);
  }
  return recovered;
}

/**
 * Gives what holds for as long as the worker does not wake, which its next commit tells: every change on
 * its behalf depends on it. Undefined when it did.
 */
async function fenceOff(store: Store, worker: string): Promise<Op | undefined> {
  const key = fenceKey(worker);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const entry = await store.get<FenceRow>(key);
    if (entry?.value.dead) return { type: 'check', key, ifVersion: entry.version };
    const value: FenceRow = { seq: entry?.value.seq ?? 0, dead: true };
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    const put: Op = { type: 'put', key, value, ttlMs: FENCE_TTL_MS, ...condition };
    const result = await store.commit([put]);
    if (result.ok) return { type: 'check', key, ifVersion: result.version };
  }
  return undefined;
}

/** False when somebody else was faster. */
async function release(
  store: Store,
  { key, version, value }: Entry<OpenRow>,
  fence: Op,
): Promise<boolean> {
  const { at, bound, scopes } = value;
  const windows = windowsOf(at);
  const change = { settled: 0, reserved: -bound };
  const changes = scopes.map((scope) => ({ scope, windows, change }));
  const drop: Op = { type: 'delete', key, ifVersion: version };
  const { ok } = await commitSpend(store, [fence, drop], changes);
  return ok;
}

/** Marks the calls of a flight that have no final record, and says how many there were. */
async function interrupt(
  store: Store,
  { key, value }: Entry<FlightRow>,
  fence: Op,
): Promise<number> {
  const marks = await Promise.all(
    value.map(([id, start]) => {
      const row = toInterruptedRow(start);
      return store.commit([
        fence,
        { type: 'put', key: requestKey(id), value: row, ifAbsent: true },
      ]);
    }),
  );
  await store.commit([fence, { type: 'delete', key }]);
  return marks.filter(({ ok }) => ok).length;
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
