import type { Op } from '../../store/store.ts';
import { handedKey } from '../ledger/ledger-keys.ts';

/** Longer than any task is kept. */
const TTL_MS = 90 * 24 * 3_600_000;

/**
 * Operation that notes that a call started a task, to be part of the commit that makes the task: should the
 * call's process die, only the task is charged, and the reservation of the call is kept for it.
 */
export function handOver(call: string, task: string): Op {
  return { type: 'put', key: handedKey(call), value: task, ttlMs: TTL_MS };
}
