import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { atOnce } from '../../../src/core/turns/in-turns.ts';
import { parseKeepingDigits } from '../../../src/core/json/digits.ts';
import { RawJson, stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { writeSteps } from '../../../src/core/json/write-steps.ts';

const write = (value: unknown): string => atOnce(writeSteps(value)).toString();
const text = 'a"\\\n€😀\ud83d'.repeat(4000);

describe('writeSteps', () => {
  it('writes what stringifyWithRaw writes', () => {
    const big = Array.from({ length: 9000 }, (_, index) => ({ index, a: [index, undefined, 'x'] }));
    const values = [
      big,
      { big, no: undefined, text, raw: new RawJson('{"a":1.0}'), last: { big } },
      [text, big, 1, [big], undefined, null, text, [], {}],
      [[[[[text]]]], { a: { b: { c: big } } }],
      new RawJson(`[${'1.0, '.repeat(300_000)}1]`),
      '😀'.repeat(600_000),
      `x${'😀'.repeat(600_000)}`,
      { ['k'.repeat(20_000)]: 1, ['l'.repeat(20_000)]: [undefined, text] },
      { none: undefined, ...Object.fromEntries(big.map((one) => [`k${one.index}`, one])) },
      parseKeepingDigits(`[${'1.0,{"a":1e2},'.repeat(9000)}-0]`),
      parseKeepingDigits(`{"a":1.0,"b":[${'1.0,'.repeat(9000)}2.50],"c":1e2}`),
      [],
      {},
      null,
      1,
    ];
    for (const value of values) expect(write(value)).toBe(stringifyWithRaw(value));
  });

  it('writes any value, small ones beside large ones', () => {
    const grown = fc.jsonValue().map((value) => [value, text, { value, text }, [[value], text]]);
    fc.assert(
      fc.property(grown, (value) => {
        expect(write(value)).toBe(JSON.stringify(value));
      }),
      { numRuns: 50 },
    );
  });

  it('writes little at once', () => {
    const native = vi.spyOn(JSON, 'stringify');
    const steps = writeSteps({ a: Array.from({ length: 200_000 }, () => ({ x: 'y' })), b: text });
    let [most, count] = [0, 0];
    while (!steps.next().done) {
      const size = native.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
      most = Math.max(most, size);
      native.mockClear();
      count++;
    }
    native.mockRestore();
    expect(most).toBeLessThan(100 * 1024);
    expect(count).toBeGreaterThan(50);
  });
});
