import { reasonOf } from '../../../core/errors.ts';
import { StoreError, type StoreErrorCode } from '../../store.ts';

/** Codes for the first words of Redis' refusals. */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  OOM: 'full',
  MISCONF: 'full',
  READONLY: 'read_only',
};

export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const reason = reasonOf(error);
  const [word = ''] = reason.split(' ', 1);
  const code = CODES[word] ?? 'unavailable';
  return new StoreError(code, `Redis: ${reason}`, { cause: error });
}
