import { StoreError } from './store.ts';

const NEXT = 'restore a backup: `gateway store restore BACKUP --replace`';

/**
 * The one error for a damaged store: it gives the remedy and holds no byte of a row. `what` describes the
 * damage in a few words.
 */
export function damaged(what: string, store = 'the store'): StoreError {
  return new StoreError('corrupt', `${store} is damaged: ${what}; ${NEXT}`);
}

/** Runs what decodes a row; all that it throws comes of damage, and is reported as such. */
export function decoding<R>(decode: () => R): R {
  try {
    return decode();
  } catch {
    throw damaged('a row cannot be read');
  }
}

/** Recognises errors of decoders, whose words may hold bytes of a row. */
export function isDecodingFailure(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof RangeError;
}

/** Nothing is at the address where a store was to be read; a start would make one. */
export class AbsentStore extends StoreError {
  /** `where`: `in /data`, `under this prefix`. */
  constructor(where: string) {
    super('unavailable', `there is no store ${where}`);
  }
}
