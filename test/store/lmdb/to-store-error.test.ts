import { describe, expect, it } from 'vitest';
import { fromLmdbError, toStoreError } from '../../../src/store/backends/lmdb/to-store-error.ts';
import { StoreError } from '../../../src/store/store.ts';

const errorOf = (code: number | string): Error => Object.assign(new Error('told'), { code });

describe('an error of lmdb', () => {
  it.each([
    [28, 'full', 'the disk of the store is full'],
    [122, 'full', 'the disk quota of the store is used up'],
    [27, 'full', 'the data file of the store may not grow further'],
    [-30792, 'full', 'the store has reached its size limit'],
    [5, 'unavailable', 'the disk refused a write of the store: it is full or failing'],
    [30, 'read_only', 'the disk of the store is mounted read-only'],
    [13, 'read_only', 'this user may not write to the store'],
    [1, 'read_only', 'this user may not write to the store'],
    [-30794, 'newer_format', 'the data file was written by another version of lmdb'],
    [-30790, 'unavailable', 'too many processes read the store at once'],
    [77, 'unavailable', 'the store failed: Error: told'],
  ])('of the number %d means %s', (number, code, message) => {
    const error = errorOf(number);
    expect(fromLmdbError(error)).toMatchObject({ code, message, cause: error });
  });

  it.each([-30793, -30796, -30797, -30786, -30787, -30782, -30781, -30779])(
    'of the number %d means damage',
    (number) => {
      expect(fromLmdbError(errorOf(number))).toMatchObject({
        code: 'corrupt',
        message: expect.stringMatching(/^the store is damaged: lmdb cannot read it; /),
      });
    },
  );

  it('means damage where a decoder failed, whose words are not told', () => {
    for (const error of [new SyntaxError('secret'), new RangeError('secret')]) {
      const told = fromLmdbError(error);
      expect(told.code).toBe('corrupt');
      expect(told.message).not.toContain('secret');
    }
  });

  it('is told whatever was thrown', () => {
    expect(fromLmdbError('gone')).toMatchObject({
      code: 'unavailable',
      message: 'the store failed: gone',
    });
    expect(fromLmdbError({ code: 28 }).code).toBe('unavailable');
  });

  it('of a commit is what its own promise rejects with', async () => {
    const commitError = Promise.reject(errorOf(28));
    commitError.catch(() => undefined);
    const error = Object.assign(new Error('Commit failed'), { commitError });
    expect(await toStoreError(error)).toMatchObject({ code: 'full' });
    const clean = Object.assign(new Error('Commit failed'), { commitError: Promise.resolve() });
    expect(await toStoreError(clean)).toMatchObject({ code: 'unavailable', cause: clean });
  });

  it('stays as it is where it is one of the store already', async () => {
    const error = new StoreError('closed', 'closed');
    expect(await toStoreError(error)).toBe(error);
  });
});
