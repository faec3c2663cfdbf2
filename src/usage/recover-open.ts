import type { Entry, Op, Store } from '../store/store.ts';
import { commitSpend } from './commit-spend.ts';
import type { FenceRow } from './fence.ts';
import type { FlightRow } from './flights.ts';
import { fenceKey, FLIGHT, OPEN, requestKey, ROSTER, rosterKey, UNFOLDED } from './ledger-keys.ts';
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
  const dead = new Set(roster.map(({ key }) => String(key[1])).filter((name) => !alive.has(name)));
  const recovered = { released: 0, interrupted: 0 };
  if (dead.size === 0) return recovered;
  // From here on nothing of theirs is accepted any more, should one of them only have been asleep.
  for (const worker of dead) await fenceOff(store, worker);
  for (const worker of dead) {
    for await (const entry of readRows<OpenRow>(store, [...OPEN, worker])) {
      if (await release(store, entry)) recovered.released++;
    }
    for await (const entry of readRows<FlightRow>(store, [...FLIGHT, worker])) {
      recovered.interrupted += await interrupt(store, entry);
    }
  }
  for await (const entry of readRows<number[]>(store, UNFOLDED)) await foldRow(store, entry, dead);
  for (const worker of dead) await store.commit([{ type: 'delete', key: rosterKey(worker) }]);
  return recovered;
}

async function fenceOff(store: Store, worker: string): Promise<void> {
  const key = fenceKey(worker);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const entry = await store.get<FenceRow>(key);
    if (entry?.value.dead) return;
    const value: FenceRow = { seq: entry?.value.seq ?? 0, dead: true };
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    const put: Op = { type: 'put', key, value, ttlMs: FENCE_TTL_MS, ...condition };
    if ((await store.commit([put])).ok) return;
  }
}

/** False when somebody else was faster. */
async function release(store: Store, { key, version, value }: Entry<OpenRow>): Promise<boolean> {
  const { at, bound, scopes } = value;
  const windows = windowsOf(at);
  const change = { settled: 0, reserved: -bound };
  const changes = scopes.map((scope) => ({ scope, windows, change }));
  const { ok } = await commitSpend(store, [{ type: 'delete', key, ifVersion: version }], changes);
  return ok;
}

/** Marks the calls of a flight that have no final record, and says how many there were. */
async function interrupt(store: Store, { key, value }: Entry<FlightRow>): Promise<number> {
  const marks = await Promise.all(
    value.map(([id, start]) => {
      const row = toInterruptedRow(start);
      return store.commit([{ type: 'put', key: requestKey(id), value: row, ifAbsent: true }]);
    }),
  );
  await store.commit([{ type: 'delete', key }]);
  return marks.filter(({ ok }) => ok).length;
}

async function foldRow(
  store: Store,
  entry: Entry<number[]>,
  dead: ReadonlySet<string>,
): Promise<void> {
  const { scope, day, worker, amount } = toUnfoldedRow(entry);
  if (!dead.has(worker)) return;
  const change = { settled: amount, reserved: 0 };
  await commitSpend(
    store,
    [{ type: 'delete', key: entry.key, ifVersion: entry.version }],
    [{ scope, windows: windowsOfDay(day), change }],
  );
}
