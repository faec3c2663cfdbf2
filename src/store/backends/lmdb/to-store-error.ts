import { damaged, isDecodingFailure } from '../../damage.ts';
import { StoreError, type StoreErrorCode } from '../../store.ts';

/** lmdb reports system errors by number and its own by negative numbers. */
const CODES: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  28: ['full', 'the disk of the store is full'],
  122: ['full', 'the disk quota of the store is used up'],
  27: ['full', 'the data file of the store may not grow further'],
  '-30792': ['full', 'the store has reached its size limit'],
  5: ['unavailable', 'the disk refused a write of the store: it is full or failing'],
  30: ['read_only', 'the disk of the store is mounted read-only'],
  13: ['read_only', 'this user may not write to the store'],
  1: ['read_only', 'this user may not write to the store'],
  '-30794': ['newer_format', 'the data file was written by another version of lmdb'],
  '-30790': ['unavailable', 'too many processes read the store at once'],
};

/** Numbers for pages that do not fit together, and for transactions that such a page has spoiled. */
const DAMAGE: ReadonlySet<string> = new Set([
  '-30793',
  '-30796',
  '-30797',
  '-30786',
  '-30787',
  '-30782',
  '-30781',
  '-30779',
]);

/** Turns an error of lmdb into the one error type of stores. */
export async function toStoreError(thrown: unknown, directory?: string): Promise<StoreError> {
  if (thrown instanceof StoreError) return thrown;
  return fromLmdbError(await causeOf(thrown), directory);
}

/** @param directory folder of the store, named where its disk is the cause */
export function fromLmdbError(cause: unknown, directory?: string): StoreError {
  const number = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (DAMAGE.has(number) || isDecodingFailure(cause)) return damaged('lmdb cannot read it');
  const [code, what] = CODES[number] ?? ['unavailable', `the store failed: ${String(cause)}`];
  const message = directory === undefined ? what : `${what} (${directory})`;
  return new StoreError(code, message, { cause });
}

/** A rejected commit of lmdb carries its reason as a promise that rejects with it. */
async function causeOf(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error && 'commitError' in thrown)) return thrown;
  try {
    await thrown.commitError;
  } catch (reason) {
    return reason;
  }
  return thrown;
}
