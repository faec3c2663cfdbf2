import { describe, expect, it } from 'vitest';
import { unknownDriver } from '../../../src/store/unknown-driver.ts';

const KNOWN = ['lmdb', 'redis', 'fs', 'fs-lite', 'fsLite', 'mongodb'];

describe('the error of a driver that nobody knows', () => {
  it('lists those there are, each once and in one spelling', () => {
    expect(unknownDriver('xxxxxxxxx', [...KNOWN, 'fs'])).toMatchObject({
      code: 'unavailable',
      message: 'there is no store driver "xxxxxxxxx"; known are lmdb, redis, fs, fs-lite, mongodb',
    });
  });

  it.each([
    ['lmbd', 'lmdb'],
    ['rediss', 'redis'],
    ['reddiss', 'redis'],
    ['fslite', 'fs-lite'],
    ['mongooodb', 'mongodb'],
    // A third of a long name may be wrong.
    ['moooongodb', 'mongodb'],
  ])('guesses what was meant: %s is %s', (driver, meant) => {
    expect(unknownDriver(driver, KNOWN).message).toContain(`; did you mean ${meant}? known are`);
  });

  it.each(['redis-cache', 'postgresql', 'p-u-r'])('makes no guess at %s', (driver) => {
    expect(unknownDriver(driver, KNOWN).message).not.toContain('did you mean');
  });

  it('shows a hostile name as JSON', () => {
    expect(unknownDriver('a"\n', []).message).toMatch(/^there is no store driver "a\\"\\n"; /);
  });
});
