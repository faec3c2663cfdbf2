import type { Op } from '../../store/store.ts';
import { handedKey } from '../ledger/ledger-keys.ts';

/** Longer than any task is kept. */
const TTL_MS = 90 * 24 * 3_600_000;

/**
 * Operation that notes that a call left a task behind, to be part of the commit that makes the task:
 * should the call's process die, the task alone is charged, and what the call had reserved is kept for it.
 */
export function handOver(call: string, task: string): Op {
  return { type: 'put', key: handedKey(call), value: task, ttlMs: TTL_MS };
}
