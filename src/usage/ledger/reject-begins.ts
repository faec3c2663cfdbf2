import { GatewayError } from '../../core/errors.ts';
import type { Batch } from './ledger-call.ts';

/**
 * Rejects the waiting calls that were not recorded and claims that were not decided; the journal rejects its
 * own.
 */
export function rejectBegins(batch: Batch, cause: unknown): void {
  const error = new GatewayError('persistence_failed', { cause });
  for (const { type, call, number } of batch.jobs)
    if (type === 'begin' && number === 0) call.admitted?.reject(error);
  for (const claim of batch.asked) claim.fail(cause);
  batch.durable.reject(error);
}
