import { describe, expect, it } from 'vitest';
import { damaged, decoding, isDecodingFailure } from '../../../src/store/damage.ts';
import { isStoreTrouble } from '../../../src/store/is-store-trouble.ts';
import { StoreError, type StoreErrorCode } from '../../../src/store/store.ts';

describe('the error of a damaged store', () => {
  it('says what was found, where, and what to do', () => {
    expect(damaged('a page is cut off')).toMatchObject({
      code: 'corrupt',
      message:
        'the store is damaged: a page is cut off; restore a backup: `gateway store restore BACKUP --replace`',
    });
    expect(damaged('it is short', '/data').message).toMatch(/^\/data is damaged: it is short; /);
  });

  it('takes the place of whatever a decoder throws, whose words may hold a row', () => {
    expect(decoding(() => 7)).toBe(7);
    const secret = (): unknown => JSON.parse('{"secret');
    expect(() => decoding(secret)).toThrow(
      expect.objectContaining({
        code: 'corrupt',
        message: expect.stringMatching(/^the store is damaged: a row cannot be read; /),
      }),
    );
  });

  it.each([
    [new SyntaxError('x'), true],
    [new RangeError('x'), true],
    [new TypeError('x'), false],
    [new StoreError('corrupt', 'x'), false],
    ['SyntaxError', false],
  ])('is meant by what decoders throw: %s', (error, is) => {
    expect(isDecodingFailure(error)).toBe(is);
  });
});

describe('trouble of a store', () => {
  it.each<[StoreErrorCode, boolean]>([
    ['unavailable', true],
    ['full', true],
    ['read_only', true],
    ['corrupt', true],
    ['locked', false],
    ['newer_format', false],
    ['too_large', false],
    ['invalid_key', false],
    ['invalid_value', false],
    ['invalid_commit', false],
    ['closed', false],
  ])('is told from what was asked of it: %s', (code, is) => {
    expect(isStoreTrouble(new StoreError(code, 'x'))).toBe(is);
  });

  it('is no other error that has such a code', () => {
    expect(isStoreTrouble(Object.assign(new Error('x'), { code: 'full' }))).toBe(false);
    expect(isStoreTrouble(undefined)).toBe(false);
  });
});
