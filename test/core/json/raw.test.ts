import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKeepingRaw, RawJson, stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { jsonText } from '../json-text.ts';

const MARK = '\u{F0000}raw:';

/** The value with every kept text parsed. */
function unwrap(value: unknown): unknown {
  if (value instanceof RawJson) return JSON.parse(value.text);
  if (Array.isArray(value)) return value.map(unwrap);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unwrap(one)]));
}

describe('parseKeepingRaw', () => {
  it('keeps the text of objects and arrays that were named, and of nothing else', () => {
    const value = parseKeepingRaw('{"input": {"a":1.0} ,"args":[1e2],"b":{"a":1.0},"c":"input"}', [
      'input',
      'args',
    ]);
    expect(value).toEqual({
      input: new RawJson('{"a":1.0}'),
      args: new RawJson('[1e2]'),
      b: { a: 1 },
      c: 'input',
    });
  });

  it('keeps the outermost of nested ones, and leaves scalars as they are', () => {
    expect(parseKeepingRaw('{"input":{"input":{"a":1.0}}}', ['input'])).toEqual({
      input: new RawJson('{"input":{"a":1.0}}'),
    });
    expect(parseKeepingRaw('{"input":1.0,"x":"input"}', ['input'])).toEqual({
      input: 1,
      x: 'input',
    });
  });

  it('keeps texts beside whatever looks like a placeholder', () => {
    const hostile = JSON.stringify({ [MARK]: 0, [`${MARK}:`]: `${MARK}0` });
    const escaped = '{"\\udb80\\udc00raw:":7}';
    for (const one of [hostile, escaped]) {
      const text = `{"x":${one},"input":{"a":1.0}}`;
      expect(parseKeepingRaw(text, ['input'])).toEqual({
        x: JSON.parse(one) as unknown,
        input: new RawJson('{"a":1.0}'),
      });
    }
  });

  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    fc.assert(
      fc.property(jsonText, fc.nat(), fc.boolean(), (inner, at, cut) => {
        const whole = `{"input":${inner},"b":[{"input":${inner}}]}`;
        const text = cut ? whole.slice(0, at % whole.length) : whole;
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseKeepingRaw(text, ['input'])).toThrow(SyntaxError);
          return;
        }
        expect(unwrap(parseKeepingRaw(text, ['input']))).toEqual(unwrap(expected));
      }),
    );
  });
});

describe('stringifyWithRaw', () => {
  it('writes kept texts as they were', () => {
    fc.assert(
      fc.property(jsonText, (inner) => {
        const container = `{"a":${inner}}`;
        const value = parseKeepingRaw(`{"input":${container},"b":1}`, ['input']);
        expect(stringifyWithRaw(value)).toBe(`{"input":${container},"b":1}`);
      }),
    );
  });

  it('writes whatever looks like a placeholder as what it is', () => {
    const value = {
      raw: new RawJson('{"a":1.0}'),
      text: `${MARK}0`,
      longer: `"${MARK}0"`,
      [`${MARK}0`]: { [`${MARK}0`]: new RawJson('[1.0]'), none: undefined },
    };
    const json = stringifyWithRaw(value);
    expect(json).toContain('"raw":{"a":1.0}');
    expect(JSON.parse(json)).toEqual({
      raw: { a: 1 },
      text: `${MARK}0`,
      longer: `"${MARK}0"`,
      [`${MARK}0`]: { [`${MARK}0`]: [1] },
    });
  });

  it('takes time in proportion to a text made to confuse it', () => {
    const hostile = `${MARK}${':'.repeat(2_000_000)}`;
    const json = stringifyWithRaw({ raw: new RawJson('{}'), hostile });
    expect(json.length).toBe(JSON.stringify({ raw: {}, hostile }).length);
  });

  it('writes what JSON.stringify writes where nothing was kept', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyWithRaw(value)).toBe(JSON.stringify(value));
      }),
    );
  });
});
