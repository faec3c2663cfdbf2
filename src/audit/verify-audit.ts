import { StoreError } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { Chains } from './chains.ts';
import type { AuditFault } from './chains.ts';
import {
  CHAINS,
  CUT,
  ENTRIES,
  entryKey,
  HEADS,
  LAST_SEAL,
  NO_CUT,
  NO_PLACE,
} from './audit-rows.ts';
import type { ChainHead, Cut, Places, Sealed } from './audit-rows.ts';
import { SealReader } from './seal-reader.ts';

const PAGE = 500;
/** Number of times that retention may cut the log while it is read. */
const MAX_TRIES = 5;

export interface AuditVerdict {
  readonly valid: boolean;
  /** Number of entries that were compared. */
  readonly entries: number;
  readonly seals: number;
  /** Entries after it are in no seal yet. RFC 3339. */
  readonly sealed_until: string | null;
  /** Retention has removed the log up to here. RFC 3339. */
  readonly removed_before: string | null;
  /** First fault; null: there is none. */
  readonly fault: AuditFault | null;
}

type Reader = Pick<Store, 'get' | 'list'>;

/**
 * Reads the whole log and compares every entry with its chain, the chains with the seals, and the seals with
 * each other. Writes meanwhile are no fault. Rejects with `StoreError`.
 */
export async function verifyAudit(store: Reader): Promise<AuditVerdict> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const cut = await store.get<Cut>(CUT);
    const verdict = await verifyFrom(store, cut?.value ?? NO_CUT);
    if (verdict.valid || (await store.get(CUT))?.version === cut?.version) return verdict;
  }
  throw new StoreError('unavailable', 'retention keeps cutting the audit log; try again later');
}

async function verifyFrom(store: Reader, cut: Cut): Promise<AuditVerdict> {
  // The order finds all heads that a seal names, and all entries that heads name.
  const sealed = (await store.get<Sealed>(LAST_SEAL))?.value;
  const last = sealed?.number ?? cut.seal.number;
  const seals = new SealReader({ store, from: cut.seal, last });
  const heads = furthest(await readHeads(store), sealed?.heads ?? {});
  const chains = new Chains({ from: cut.heads, heads, seals });
  const fault =
    (await walk(store, chains)) ?? (await chains.end()) ?? chains.tooLong(await readHeads(store));
  const { at, count } = seals;
  return {
    valid: fault === undefined,
    entries: chains.count,
    seals: count,
    sealed_until: toInstant(at),
    removed_before: toInstant(cut.seal.at),
    fault: fault ?? null,
  };
}

/** A head that is gone, or was set back, does not hide sealed entries. */
function furthest(heads: Places, sealed: Places): Places {
  const beyond = Object.entries(sealed).filter(
    ([chain, { number }]) => number > (heads[chain] ?? NO_PLACE).number,
  );
  return { ...heads, ...Object.fromEntries(beyond) };
}

async function walk(store: Reader, chains: Chains): Promise<AuditFault | undefined> {
  let after: string | undefined;
  for (;;) {
    const page = await store.list<AuditEntry>({
      prefix: ENTRIES,
      limit: PAGE,
      ...(after !== undefined && { after: entryKey(after) }),
    });
    for (const { key, value } of page) {
      after = String(key.at(-1));
      const fault = await chains.add(after, value);
      if (fault) return fault;
    }
    if (page.length < PAGE) return undefined;
  }
}

async function readHeads(store: Reader): Promise<Places> {
  const heads = await store.list<ChainHead>({ prefix: HEADS, limit: CHAINS });
  return Object.fromEntries(heads.map(({ key, value }) => [String(key.at(-1)), value]));
}

const toInstant = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();
