import { StoreError, type StoreErrorCode } from '../../store.ts';

/** Codes for the classes of SQLSTATE; everything else is trouble that may pass. */
const CODES: readonly (readonly [pattern: RegExp, code: StoreErrorCode])[] = [
  [/^53100$/, 'full'],
  [/^25006$/, 'read_only'],
  [/^XX00[12]$/, 'corrupt'],
];

export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { code: state = '', message = String(error) } = error as {
    code?: string;
    message?: string;
  };
  const code = CODES.find(([pattern]) => pattern.test(state))?.[1] ?? 'unavailable';
  return new StoreError(code, `PostgreSQL: ${message || state}`, { cause: error });
}
