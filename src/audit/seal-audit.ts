import type { Clock } from '../core/time/clock.ts';
import type { Job, JobHandler } from '../jobs/jobs.ts';
import type { Op, Store } from '../store/store.ts';
import { CHAINS, hashAfter, HEADS, LAST_SEAL, NO_HASH, NO_PLACE, sealKey } from './audit-rows.ts';
import type { ChainHead, Places, Sealed } from './audit-rows.ts';

const SEAL_MS = 60_000;

/** Seals the log every minute; one for all processes on the store, which never ends. */
export const AUDIT_SEAL_JOB: Job = { kind: 'audit-seal', id: 'audit-seal', payload: null };
/** Delay of the job, for the commit that adds it. */
export const SEAL_SOON = { inMs: SEAL_MS };

const NOTHING_SEALED: Sealed = { number: 0, hash: NO_HASH, heads: {} };

export function createSealJob(options: { store: Store; clock: Clock }): JobHandler {
  return async () => {
    await sealAudit(options);
    return { againInMs: SEAL_MS };
  };
}

/** Writes a seal unless no chain has grown since the last one; another process may do it meanwhile. */
export async function sealAudit({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const last = await store.get<Sealed>(LAST_SEAL);
  const { number, hash: previous, heads: before } = last?.value ?? NOTHING_SEALED;
  const found = await store.list<ChainHead>({ prefix: HEADS, limit: CHAINS });
  const grown = found.filter(({ key, value }) => {
    const known = before[String(key.at(-1))] ?? NO_PLACE;
    return value.number > known.number;
  });
  if (grown.length === 0) return;
  const heads: Places = Object.fromEntries(
    grown.map(({ key, value }) => [String(key.at(-1)), { number: value.number, hash: value.hash }]),
  );
  const seal = { number: number + 1, at: clock.now(), heads };
  const hash = hashAfter(previous, seal);
  const sealed: Sealed = { number: seal.number, hash, heads: { ...before, ...heads } };
  const unmoved = last ? { ifVersion: last.version } : { ifAbsent: true as const };
  const ops: Op[] = [
    { type: 'put', key: LAST_SEAL, value: sealed, ...unmoved },
    { type: 'put', key: sealKey(seal.number), value: { ...seal, hash } },
  ];
  await store.commit(ops);
}
