import type { Op, Version } from '../../store/store.ts';
import { spendKey } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { SpendRecord } from './spend.ts';

const DAY_MS = 24 * 3_600_000;
/** Clients make as many conversations as they like; one that has not spent for so long is forgotten. */
const CONVERSATION_TTL_MS = 90 * DAY_MS;
/** Counters of one minute or day are of no use after the calls that began in it. */
const TOKENS_TTL_MS = 3 * DAY_MS;
/** Longer than a year, so that a month can be compared with the one of a year ago. */
const BUDGET_TTL_MS = 400 * DAY_MS;

/** Operation that stores the counter of a scope in place of the version that was read. */
export function putCounter(scope: Scope, record: SpendRecord, version: Version | undefined): Op {
  return {
    type: 'put',
    key: spendKey(scope),
    value: record,
    ...ttlOf(scope),
    ...(version === undefined ? { ifAbsent: true as const } : { ifVersion: version }),
  };
}

/** Time for which an unchanged counter stays. */
function ttlOf({ kind, id }: Scope): { ttlMs?: number } {
  if (kind === 'conversation') return { ttlMs: CONVERSATION_TTL_MS };
  if (kind === 'tokens') return { ttlMs: TOKENS_TTL_MS };
  return kind === 'budget' && !id.endsWith('/lifetime') ? { ttlMs: BUDGET_TTL_MS } : {};
}
