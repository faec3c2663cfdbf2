import { describe, expect, it } from 'vitest';
import { toStoreError } from '../../../src/store/backends/postgres/to-store-error.ts';
import { StoreError } from '../../../src/store/store.ts';

describe('an error of PostgreSQL', () => {
  it.each([
    ['53100', 'full'],
    ['25006', 'read_only'],
    ['XX001', 'corrupt'],
    ['XX002', 'corrupt'],
    ['XX000', 'unavailable'],
    ['XX0012', 'unavailable'],
    ['531000', 'unavailable'],
    ['125006', 'unavailable'],
    ['40P01', 'unavailable'],
  ])('of the state %s means %s', (state, code) => {
    const error = Object.assign(new Error('told'), { code: state });
    expect(toStoreError(error)).toMatchObject({
      name: 'StoreError',
      code,
      message: 'PostgreSQL: told',
      cause: error,
    });
  });

  it('is told by its state where it has no words, and by itself where it is none', () => {
    const silent = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    expect(toStoreError(silent).message).toBe('PostgreSQL: ECONNREFUSED');
    expect(toStoreError('gone')).toMatchObject({
      code: 'unavailable',
      message: 'PostgreSQL: gone',
    });
  });

  it('stays as it is where it is one of the store already', () => {
    const error = new StoreError('newer_format', 'later');
    expect(toStoreError(error)).toBe(error);
  });
});
