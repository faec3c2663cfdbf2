import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digitsOf,
  parseKeepingDigits,
  parseObjectKeepingDigits,
} from '../../../src/core/json/digits.ts';
import { stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { jsonText } from '../json-text.ts';

const NUMBERS = [
  '2512292042121000001',
  '-9007199254740993',
  '0.1234567890123456789',
  '12345.12345678901234567',
  '1.0',
  '2.50',
  '1e2',
  '1E+2',
  '1e300',
  '-0',
  '-0.0',
  '0.0000001',
];

const number = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.integer().map(String),
  fc.tuple(fc.integer(), fc.nat()).map(([whole, rest]) => `${whole}.${rest}`),
  fc.bigInt().map(String),
);
const name = fc.oneof(
  fc.constantFrom('__proto__', 'toString', '\u{F0000}raw:', 'x"1.0'),
  fc.string({ unit: 'grapheme' }).map((text) => `k${text}`),
);
/** Without blanks or two members of one name, and no name that objects put in front. */
const compact = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc
      .oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('1.0', '1e5'))
      .map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([one]) => one })
      .map((all) => `{${all.map(([one, text]) => `${JSON.stringify(one)}:${text}`).join(',')}}`),
  ),
})).value;

/** Stands before a number that is to be written as it was. */
const MARK = '\u{F0001}digits:';

const write = (text: string): string => stringifyWithRaw(parseKeepingDigits(text));

describe('parseKeepingDigits', () => {
  it('reads numbers that are written as they were', () => {
    fc.assert(
      fc.property(compact, (inner) => {
        const text = `{"a":${inner},"b":[${inner}]}`;
        expect(write(text)).toBe(text);
      }),
    );
  });

  it.each(NUMBERS)('reads %s as the number that it is', (digits) => {
    const value = parseKeepingDigits(`{"n":${digits}}`) as { n: number };
    expect(value.n).toBe(Number(digits));
    expect(Object.keys(value)).toEqual(['n']);
    expect(JSON.stringify(value)).toBe(JSON.stringify({ n: Number(digits) }));
    expect(digitsOf(value, 'n')).toBe(digits);
  });

  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    fc.assert(
      fc.property(jsonText, fc.nat(), fc.boolean(), (whole, at, cut) => {
        const text = cut ? whole.slice(0, at % whole.length) : whole;
        let expected: string;
        try {
          expected = JSON.stringify(JSON.parse(text));
        } catch {
          expect(() => parseKeepingDigits(text)).toThrow(SyntaxError);
          expect(parseObjectKeepingDigits(text)).toBeUndefined();
          return;
        }
        expect(JSON.stringify(parseKeepingDigits(text))).toBe(expected);
      }),
    );
    for (const text of ['[01.0]', '[1.0.0]', '[1.0 2]', '[--1.0]', '[1.0e]', '{1.0:2}', '[1.]'])
      expect(() => parseKeepingDigits(text), text).toThrow(SyntaxError);
  });

  it('gives copies of an object the digits of what was not changed', () => {
    const value = parseObjectKeepingDigits('{"a":1.0,"b":2.0,"c":{"d":3.0}}');
    const copy = { ...value, b: 5, e: 1 };
    expect(stringifyWithRaw(copy)).toBe('{"a":1.0,"b":5,"c":{"d":3.0},"e":1}');
  });

  it('reads an object alone where one is asked for', () => {
    expect(parseObjectKeepingDigits('[1.0]')).toBeUndefined();
    expect(parseObjectKeepingDigits('1.0')).toBeUndefined();
  });
});

describe('stringifyWithRaw with levels', () => {
  it('writes what JSON.stringify writes, but for the digits', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const mixed = { a: [value, []], value, kept: parseKeepingDigits('[[1.0],{"a":1e2}]') };
        const expected = JSON.stringify(
          { ...mixed, kept: [[`${MARK}1.0`], { a: `${MARK}1e2` }] },
          null,
          '  ',
        );
        const marked = new RegExp(`"${MARK}([^"]+)"`, 'g');
        expect(stringifyWithRaw(mixed, '  ')).toBe(expected.replaceAll(marked, '$1'));
      }),
    );
  });
});
