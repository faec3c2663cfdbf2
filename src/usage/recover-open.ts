import type { Clock } from '../core/clock.ts';
import { idTime } from '../core/ids.ts';
import type { Entry, Key, Op, Store } from '../store/store.ts';
import type { FenceRow } from './fence.ts';
import {
  fenceKey,
  OPEN,
  REQUESTS,
  requestKey,
  ROSTER,
  rosterKey,
  spendKey,
  UNFOLDED,
} from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import type { OpenRow } from './ledger-plan.ts';
import { isEnded, toInterruptedRow } from './request-row.ts';
import type { RequestRow } from './request-row.ts';
import { toUnfoldedRow } from './spend-counters.ts';
import { addSpend, windowsOf, windowsOfDay, withoutPastWindows } from './spend.ts';
import type { Spend, SpendRecord, Windows } from './spend.ts';
import { aliveWorkers } from './worker-lease.ts';

const PAGE = 1_000;
const MAX_WORKERS = 10_000;
/** Records are written when a call starts, and no call lasts longer. */
const MAX_CALL_MS = 3_600_000;
const MAX_SCANNED = 200_000;
const MAX_ATTEMPTS = 50;
const FENCE_TTL_MS = 24 * 3_600_000;

export interface RecoverOptions {
  store: Store;
  clock: Clock;
}

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
export async function recoverOpen({ store, clock }: RecoverOptions): Promise<Recovered> {
  const roster = await store.list<{ since: number }>({ prefix: ROSTER, limit: MAX_WORKERS });
  const alive = await aliveWorkers(store);
  const dead = new Map<string, number>();
  for (const { key, value } of roster) {
    const worker = String(key[1]);
    if (!alive.has(worker)) dead.set(worker, value.since);
  }
  const recovered = { released: 0, interrupted: 0 };
  if (dead.size === 0) return recovered;
  // From here on nothing of theirs is accepted any more, should one of them only have been asleep.
  for (const worker of dead.keys()) await fenceOff(store, worker);
  for (const worker of dead.keys()) {
    for await (const entry of rows<OpenRow>(store, [...OPEN, worker])) {
      const pending = await release(store, entry);
      if (pending !== undefined) recovered.released++;
      if (pending) recovered.interrupted++;
    }
  }
  for await (const entry of rows<number[]>(store, UNFOLDED)) await foldRow(store, entry, dead);
  recovered.interrupted += await interruptPending(store, dead, clock.now());
  for (const worker of dead.keys())
    await store.commit([{ type: 'delete', key: rosterKey(worker) }]);
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

/** Undefined: somebody else was faster. Else whether the record was still pending. */
async function release(store: Store, open: Entry<OpenRow>): Promise<boolean | undefined> {
  const { at, bound, scopes } = open.value;
  const key = requestKey(String(open.key[2]));
  const row = await store.get<RequestRow>(key);
  const ops: Op[] = [{ type: 'delete', key: open.key, ifVersion: open.version }];
  const pending = row !== undefined && !isEnded(row.value);
  if (pending)
    ops.push({ type: 'put', key, value: toInterruptedRow(row.value), ifVersion: row.version });
  const change = { settled: 0, reserved: -bound };
  return (await commitSpend(store, { ops, scopes, windows: windowsOf(at), change }))
    ? pending
    : undefined;
}

async function foldRow(
  store: Store,
  entry: Entry<number[]>,
  dead: ReadonlyMap<string, number>,
): Promise<void> {
  const { scope, day, worker, amount } = toUnfoldedRow(entry);
  if (!dead.has(worker)) return;
  await commitSpend(store, {
    ops: [{ type: 'delete', key: entry.key, ifVersion: entry.version }],
    scopes: [scope],
    windows: windowsOfDay(day),
    change: { settled: amount, reserved: 0 },
  });
}

interface SpendCommit {
  ops: readonly Op[];
  scopes: readonly Scope[];
  windows: Windows;
  change: Readonly<Spend>;
}

/** Commits the operations with the change of the counters; false when the operations no longer hold. */
async function commitSpend(
  store: Store,
  { ops, scopes, windows, change }: SpendCommit,
): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const counters = await Promise.all(
      scopes.map(async (scope): Promise<Op> => {
        const key = spendKey(scope);
        const entry = await store.get<SpendRecord>(key);
        const record = structuredClone(entry?.value ?? {});
        addSpend(record, windows, change);
        const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
        return { type: 'put', key, value: withoutPastWindows(record), ...condition };
      }),
    );
    const result = await store.commit([...ops, ...counters]);
    if (result.ok) return true;
    if (result.conflict[0] !== 'spend') return false;
  }
  return false;
}

/** Calls without a reservation have nothing but their record, so the newest records are looked through. */
async function interruptPending(
  store: Store,
  dead: ReadonlyMap<string, number>,
  now: number,
): Promise<number> {
  const since = Math.max(Math.min(...dead.values()), now - MAX_CALL_MS);
  let interrupted = 0;
  for await (const entry of rows<RequestRow>(store, REQUESTS, {
    reverse: true,
    most: MAX_SCANNED,
  })) {
    const { key, value, version } = entry;
    if ((idTime(String(key[1])) ?? now) < since) break;
    if (isEnded(value) || !dead.has(value.worker)) continue;
    const put: Op = { type: 'put', key, value: toInterruptedRow(value), ifVersion: version };
    if ((await store.commit([put])).ok) interrupted++;
  }
  return interrupted;
}

/** The entries below a prefix, page by page. */
async function* rows<T>(
  store: Store,
  prefix: Key,
  { reverse = false, most = Infinity }: { reverse?: boolean; most?: number } = {},
): AsyncGenerator<Entry<T>> {
  let after: Key | undefined;
  for (let seen = 0; seen < most; seen += PAGE) {
    const page = await store.list<T>({ prefix, limit: PAGE, reverse, ...(after ? { after } : {}) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < PAGE) return;
  }
}
