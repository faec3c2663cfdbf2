import { describe, expect, it } from 'vitest';
import { toStoreError } from '../../../src/store/backends/redis/to-store-error.ts';
import { StoreError } from '../../../src/store/store.ts';

describe('an error of Redis', () => {
  it.each([
    ['OOM command not allowed', 'full'],
    ['MISCONF cannot write', 'full'],
    ['READONLY a replica', 'read_only'],
    ['OOM', 'full'],
    ['OOMPH', 'unavailable'],
    ['ERR OOM', 'unavailable'],
    ['Connection is closed.', 'unavailable'],
  ])('that says %j means %s', (message, code) => {
    const error = new Error(message);
    expect(toStoreError(error)).toMatchObject({
      name: 'StoreError',
      code,
      message: `Redis: ${message}`,
      cause: error,
    });
  });

  it('stays as it is where it is one of the store already', () => {
    const error = new StoreError('locked', 'taken');
    expect(toStoreError(error)).toBe(error);
  });
});
