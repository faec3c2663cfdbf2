import type { Sweep, Swept } from '../jobs/sweep-job.ts';
import type { Entry, Op, Store } from '../store/store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { CUT, ENTRIES, entryKey, NO_CUT, NO_PLACE, sealKey, SEALS } from './audit-rows.ts';
import type { ChainPlace, Cut, Places, Seal } from './audit-rows.ts';

/** Seals that one step may pass. */
const SEALS_AT_ONCE = 100;

interface Target {
  readonly seals: readonly Seal[];
  /** Last entries that go, by chain. */
  readonly heads: Places;
}

/**
 * Removes the log up to the last seal that is old enough, and keeps the hashes with which the rest begins.
 * Every commit removes entries and stores the position up to which they are removed.
 */
export function createAuditSweep(store: Store): Sweep {
  return async (step) => {
    const cut = await store.get<Cut>(CUT);
    const target = await findTarget(store, cut?.value ?? NO_CUT, step.before);
    const last = target.seals.at(-1);
    if (!last) return { removed: 0 };
    return removeTo({ ...target, last }, { store, cut, limit: step.limit });
  };
}

async function findTarget(store: Store, cut: Cut, before: number): Promise<Target> {
  const seals = await store.list<Seal>({
    prefix: SEALS,
    after: sealKey(cut.seal.number),
    limit: SEALS_AT_ONCE,
  });
  const firstKept = seals.findIndex(({ value }) => value.at >= before);
  const old = (firstKept < 0 ? seals : seals.slice(0, firstKept)).map(({ value }) => value);
  return { seals: old, heads: Object.assign({}, cut.heads, ...old.map(({ heads }) => heads)) };
}

/** Removes as many entries as a step may; the seals go with the last of them. */
async function removeTo(
  { seals, heads, last }: Target & { last: Seal },
  { store, cut, limit }: { store: Store; cut: Entry<Cut> | undefined; limit: number },
): Promise<Swept> {
  const before = cut?.value ?? NO_CUT;
  const old = await oldest(store, { from: before.heads, to: heads, limit });
  const isLast = old.length < limit;
  const removed: Record<string, ChainPlace> = { ...before.heads };
  for (const { chain, number, hash } of old) removed[chain] = { number, hash };
  const next: Cut = isLast
    ? { seal: { number: last.number, hash: last.hash, at: last.at }, heads }
    : { ...before, heads: removed };
  const unmoved = cut ? { ifVersion: cut.version } : { ifAbsent: true as const };
  const ops: Op[] = [
    { type: 'put', key: CUT, value: next, ...unmoved },
    ...old.map(({ id }): Op => ({ type: 'delete', key: entryKey(id) })),
    ...(isLast ? seals : []).map(({ number }): Op => ({ type: 'delete', key: sealKey(number) })),
  ];
  const { ok } = await store.commit(ops);
  const isMore = !isLast || seals.length === SEALS_AT_ONCE;
  return { removed: ok ? old.length : 0, ...(isMore && { cursor: next.seal.number }) };
}

/**
 * Entries between two positions of their chains, at most `limit`. Those of a writer with a slow clock can come
 * before them and stay.
 */
async function oldest(
  store: Store,
  { from, to, limit }: { from: Places; to: Places; limit: number },
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  const total = Object.entries(to).reduce(
    (sum, [chain, { number }]) => sum + number - (from[chain] ?? NO_PLACE).number,
    0,
  );
  const wanted = Math.min(limit, total);
  let after: string | undefined;
  while (found.length < wanted) {
    const page = await store.list<AuditEntry>({
      prefix: ENTRIES,
      limit,
      ...(after !== undefined && { after: entryKey(after) }),
    });
    after = page.at(-1)?.value.id;
    const old = page.map(({ value }) => value).filter((entry) => isUpTo(to, entry));
    found.push(...old.slice(0, wanted - found.length));
    if (page.length < limit) break;
  }
  return found;
}

function isUpTo(heads: Places, { chain, number }: AuditEntry): boolean {
  return number <= (heads[chain] ?? NO_PLACE).number;
}
