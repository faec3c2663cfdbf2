import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKeepingDigits } from '../../../src/core/json/digits.ts';
import { fromLine, toLine } from '../../../src/store/backends/journal/rows.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { toId } from '../../../src/store/prepare-commit.ts';
import { toEnvelope } from '../../../src/store/value-codec.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

const ID = toId(encodeKey(['a', 1]));
const key = fc.array(fc.oneof(fc.string({ unit: anyCharacter, maxLength: 6 }), fc.integer()), {
  minLength: 1,
  maxLength: 3,
});
const value = fc.oneof(fc.jsonValue(), fc.uint8Array({ maxLength: 20 }));
const expiry = fc.oneof(fc.constant(Infinity), fc.double({ min: 1, max: 2e12, noNaN: true }));

describe('a line of a journal', () => {
  it.each([
    ['JSON', { n: ['x'] }, Infinity, '["j",["a",1],7,0,{"n":["x"]}]'],
    ['JSON that expires', 'x', 99.5, '["j",["a",1],7,99.5,"x"]'],
    ['bytes', Uint8Array.of(0, 255), Infinity, '["b",["a",1],7,0,"AP8="]'],
  ] as const)('holds %s as it is', (...[, value, expiresAt, line]) => {
    const row = { envelope: toEnvelope(value), version: 7, expiresAt };
    expect(toLine(ID, row)).toBe(line);
    expect(fromLine(line)).toEqual([ID, row]);
  });

  it('holds the digits of numbers', () => {
    const envelope = toEnvelope(parseKeepingDigits('{"id":2512292042121000001,"n":[1.0]}'));
    const row = { envelope, version: 7, expiresAt: Infinity };
    expect(fromLine(toLine(ID, row))).toEqual([ID, row]);
  });

  it('tells of a row that is gone', () => {
    expect(toLine(ID, undefined)).toBe('["d",["a",1]]');
    expect(fromLine('["d",["a",1]]')).toEqual([ID, undefined]);
  });

  it('gives every row back, on one line', () => {
    fc.assert(
      fc.property(key, value, fc.tuple(fc.nat(), expiry), (key, value, [version, expiresAt]) => {
        const id = toId(encodeKey(key));
        const row = { envelope: toEnvelope(value), version, expiresAt };
        const line = toLine(id, row);
        expect(line).not.toContain('\n');
        expect(fromLine(line)).toEqual([id, row]);
      }),
    );
  });
});
