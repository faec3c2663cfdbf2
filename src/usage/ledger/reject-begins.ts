import { GatewayError } from '../../core/errors.ts';
import type { Batch } from './ledger-call.ts';

/**
 * Tells those who wait that their call was not recorded or their claim not decided; those in the journal
 * are told by that.
 */
export function rejectBegins(batch: Batch, cause: unknown): void {
  const error = new GatewayError('persistence_failed', { cause });
  for (const { type, call, number } of batch.jobs)
    if (type === 'begin' && number === 0) call.admitted?.reject(error);
  for (const claim of batch.asked) claim.fail(cause);
  batch.durable.reject(error);
}
