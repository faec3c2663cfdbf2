import { describe, expect, it } from 'vitest';
import { readKey } from '../../src/surfaces/carriers.ts';
import { verifies } from '../requirements.ts';

describe('readKey', () => {
  it.each([
    ['Bearer sk-1', 'sk-1'],
    ['bearer sk-1', 'sk-1'],
    ['BEARER  sk-1 ', 'sk-1'],
    ['Basic c2stMQ==', undefined],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['', undefined],
    ['sk-1', undefined],
    ['Bearer sk-1 sk-2', undefined],
  ])(verifies('auth.bearer.parsing', 'reads %j as %s'), (authorization, key) => {
    expect(readKey(['bearer'], { authorization }, '')).toBe(key);
  });

  it(
    verifies(
      'auth.standard.bearer-only',
      'does not look at carriers that the family does not list',
    ),
    () => {
      const headers = { 'x-api-key': 'a', 'x-native-api-key': 'b', 'x-goog-api-key': 'c' };
      expect(readKey(['bearer'], headers, '?key=d')).toBeUndefined();
    },
  );

  it('takes the first carrier that is present, in the order of the family', () => {
    const headers = {
      authorization: 'Bearer b',
      'x-native-api-key': 'native',
      'x-goog-api-key': 'vendor',
    };
    expect(readKey(['google-header', 'bearer', 'query-key'], headers, '?key=q')).toBe('native');
    expect(readKey(['bearer', 'query-key'], { authorization: 'Basic x' }, '?a=1&key=q%2F1')).toBe(
      'q/1',
    );
  });
});
