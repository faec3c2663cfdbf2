import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { weaknessOf } from '../../src/core/weak-key.ts';
import { verifies } from '../requirements.ts';

describe('a master key', () => {
  it.each([
    ['abc', /3 characters of at least 16/],
    ['', /0 characters/],
    ['correct horse', /13 characters/],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', /only 1 of its characters/],
    ['0101010101010101010101', /only 2 of its characters/],
    [Buffer.alloc(32, 7).toString('base64'), /only 5 of its characters/],
    ['changeme-changeme', /one word again and again/],
    ['passwordpassword', /one word again and again/],
    ['0123456789abcdef', /series/],
    ['zyxwvutsrqponmlkji', /series/],
  ])('%j is easy to guess', (key, reason) => {
    expect(weaknessOf(key)).toMatch(reason);
  });

  it(
    verifies(
      'store.secrets.weak-key',
      'of 16 random digits, or of some words, is never called weak',
    ),
    () => {
      for (let i = 0; i < 500; i++) {
        const keys = [
          randomBytes(32).toString('hex'),
          randomBytes(32).toString('base64'),
          randomBytes(16).toString('hex'),
          randomBytes(16).toString('base64url'),
          randomUUID(),
        ];
        for (const key of keys) expect(weaknessOf(key), key).toBeUndefined();
      }
      for (const words of ['correct horse battery staple', 'a-master-key-of-32-characters-00'])
        expect(weaknessOf(words)).toBeUndefined();
    },
  );

  it('is judged by its characters, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 64 }), (key) => {
        const length = Array.from(key).length;
        if (length < 16) expect(weaknessOf(key)).toBeDefined();
        expect(weaknessOf(`${key}${key}`)).toBeDefined();
      }),
    );
  });
});
