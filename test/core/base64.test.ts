import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBase64 } from '../../src/core/base64.ts';

describe('base64', () => {
  it('is what was encoded, unless that was nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(isBase64(Buffer.from(bytes).toString('base64'))).toBe(bytes.length > 0);
      }),
    );
  });

  it.each(['', 'A', 'AAA', 'A===', '====', 'AA=A', 'AAA=AAAA', 'AA-_', 'AAA ', 'AAA\n', 'ÄAAA'])(
    'is not %j',
    (text) => {
      expect(isBase64(text)).toBe(false);
    },
  );

  it('may be megabytes long', () => {
    expect(isBase64('A'.repeat(16 * 1024 * 1024))).toBe(true);
  });
});
