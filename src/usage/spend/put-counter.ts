import type { Op, Version } from '../../store/store.ts';
import { spendKey } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import { withoutPastWindows } from './spend.ts';
import type { SpendRecord } from './spend.ts';

/** Clients make as many conversations as they like; one that has not spent for so long is forgotten. */
const CONVERSATION_TTL_MS = 90 * 24 * 3_600_000;

/** Operation that stores the counter of a scope in place of the version that was read. */
export function putCounter(scope: Scope, record: SpendRecord, version: Version | undefined): Op {
  return {
    type: 'put',
    key: spendKey(scope),
    value: withoutPastWindows(record),
    ...(scope.kind === 'conversation' && { ttlMs: CONVERSATION_TTL_MS }),
    ...(version === undefined ? { ifAbsent: true as const } : { ifVersion: version }),
  };
}
