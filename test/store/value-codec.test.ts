import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKeepingDigits } from '../../src/core/json/digits.ts';
import { stringifyWithRaw } from '../../src/core/json/raw.ts';
import { StoreError } from '../../src/store/store.ts';
import { fromEnvelope, MAX_VALUE_BYTES, toEnvelope } from '../../src/store/value-codec.ts';

function refusal(value: unknown): string {
  try {
    toEnvelope(value);
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('value codec', () => {
  it('gives JSON values back with their types', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fromEnvelope(toEnvelope(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(fromEnvelope(toEnvelope('123'))).toBe('123');
    expect(fromEnvelope(toEnvelope('\ud800'))).toBe('\ud800');
  });

  it('gives numbers back with the digits that they were read with', () => {
    const text = '{"a":[1.0,{"id":2512292042121000001}],"b":-0,"c":"x"}';
    const envelope = toEnvelope(parseKeepingDigits(text));
    expect(stringifyWithRaw(fromEnvelope(envelope))).toBe(text);
    // As a gateway reads it that knows no digits.
    expect(JSON.parse(envelope.toString('utf8', 1))).toEqual(JSON.parse(text));
  });

  it('gives bytes back as bytes that share nothing with what was put', () => {
    const bytes = Uint8Array.of(0, 255, 106, 10);
    const envelope = toEnvelope(bytes);
    bytes[0] = 9;
    expect(fromEnvelope(envelope)).toEqual(Uint8Array.of(0, 255, 106, 10));
    expect(fromEnvelope(toEnvelope(new Uint8Array()))).toEqual(new Uint8Array());
  });

  it('leaves out undefined members as JSON does', () => {
    expect(fromEnvelope(toEnvelope({ a: undefined, b: 1 }))).toEqual({ b: 1 });
  });

  it('refuses what JSON would lose', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const lossy = [
      undefined,
      1n,
      () => 0,
      Symbol('s'),
      NaN,
      [Infinity],
      [undefined],
      { a: { b: 1n } },
    ];
    for (const value of [
      ...lossy,
      new Date(0),
      new Map(),
      { bytes: new Uint8Array(1) },
      circular,
    ]) {
      expect(refusal(value)).toBe('invalid_value');
    }
  });

  it('refuses values above the limit, and only those', () => {
    expect(refusal(new Uint8Array(MAX_VALUE_BYTES - 1))).toBe('accepted');
    expect(refusal(new Uint8Array(MAX_VALUE_BYTES))).toBe('too_large');
    expect(refusal('x'.repeat(MAX_VALUE_BYTES))).toBe('too_large');
  });

  it('reports bytes that it did not write as corrupt', () => {
    const foreign = () => fromEnvelope(Buffer.from('?x'));
    expect(foreign).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });
});
