import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Marks } from '../../../src/core/json/marks.ts';
import { JsonScanner, MAX_JSON_DEPTH } from '../../../src/core/json/scanner.ts';
import type { ScanOptions } from '../../../src/core/json/scanner.ts';
import { jsonObjectText, jsonText } from '../json-text.ts';
import { runsOf } from '../../runs.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

const RUNS = { numRuns: runsOf(500, 2000), endOnFailure: true };

function scan(body: string | Uint8Array, options: ScanOptions = {}, budget = Infinity) {
  const scanner = new JsonScanner(Buffer.from(body), { members: Infinity, ...options });
  while (!scanner.step(budget));
  return scanner;
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Values as the scanner counts them. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value) as unknown[];
  if (Array.isArray(value) && inside.every((one) => typeof one === 'number')) return 0;
  return inside.reduce<number>((sum, one) => sum + count(one), inside.length);
}

/** What stands in the place of a few characters of a sound document. */
const damage = fc.oneof(
  fc.string({ maxLength: 2 }),
  fc.string({ unit: anyCharacter, maxLength: 2 }),
  fc.constantFrom(
    ...`,:[]{}"\\-+.0123456789eEtfnulras/b\u0000\u0001\u001f\u007f\t\n\r \u00a0\ufeff`.split(''),
  ),
  fc.constantFrom('00', '01', '-', '-0', '1.', '.5', '1e', '1e+', '1E-7', '\\u', '\\u12', '\\x'),
  fc.constantFrom('true', 'nul', 'NaN', '//', '""', '[]', '{}', ',,', '}}', '\\"', '\\\\'),
);
/** Long enough for the native search, with controls, quotes and backslashes here and there. */
const longText = fc
  .array(
    fc.oneof(
      fc.string({ minLength: 12, maxLength: 30 }),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => JSON.stringify({ [parts[0] ?? '']: parts, x: parts.join('') }));
const document = fc.oneof(jsonText, jsonObjectText, longText);
const damaged = fc.tuple(document, fc.nat(), damage, fc.nat(2)).map(([text, at, insert, cut]) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + insert + text.slice(place + cut);
});

describe('JsonScanner', () => {
  it('accepts what the parser of the language accepts, in one go and in slices of any size', () => {
    fc.assert(
      fc.property(fc.oneof(damaged, document), fc.integer({ min: 1, max: 9 }), (text, budget) => {
        // A lone surrogate is no UTF-8, so the bytes stand for another text.
        const bytes = Buffer.from(text);
        const parsed = parse(bytes.toString());
        const whole = scan(bytes);
        const sliced = scan(bytes, {}, budget);
        expect(whole.fault).toBe(parsed ? undefined : 'syntax');
        expect(sliced.fault).toBe(whole.fault);
        if (!parsed) return;
        expect(sliced.members).toEqual(whole.members);
        expect([sliced.values, sliced.numbers]).toEqual([whole.values, whole.numbers]);
        expect(whole.isObject).toBe(text.trimStart().startsWith('{'));
      }),
      RUNS,
    );
  });

  it('finds the members of an object', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        const bytes = Buffer.from(text);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const { members } = scan(bytes);
        const found = members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => [
          JSON.parse(bytes.toString('utf8', keyStart, keyEnd)) as unknown,
          JSON.parse(bytes.toString('utf8', valueStart, valueEnd)) as unknown,
        ]);
        expect(Object.fromEntries(found)).toEqual(parsed);
      }),
      RUNS,
    );
  });

  it('counts the values of any document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(scan(JSON.stringify(value)).values).toBe(count(value));
      }),
      RUNS,
    );
  });

  it('tells the size of a member and whether it is nothing but numbers', () => {
    const small = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.integer(), fc.constant('x'))));
    fc.assert(
      fc.property(small, small, (value, other) => {
        const inside = Object.values(
          typeof value === 'object' && value !== null ? value : {},
        ) as unknown[];
        const isNumbers =
          Array.isArray(value) &&
          inside.length > 0 &&
          inside.every((one) => typeof one === 'number');
        expect(scan(JSON.stringify({ other, value })).members[1]).toMatchObject({
          size: inside.length,
          isNumbers,
        });
      }),
      RUNS,
    );
  });

  it.each([
    ['[1,2,3]', 0, 3],
    ['[1,2,"x"]', 3, 0],
    ['["x",1,2]', 3, 0],
    ['[[1,2],[3]]', 2, 3],
    ['[1,[2,3],4]', 3, 2],
    ['{"a":1,"b":[1,2],"c":{"d":[]}}', 4, 2],
    ['7', 0, 0],
    ['[]', 0, 0],
  ])(
    'counts the values of %s as %i and its numbers in arrays of numbers as %i',
    (text, values, numbers) => {
      const scanner = scan(text);
      expect([scanner.values, scanner.numbers]).toEqual([values, numbers]);
    },
  );

  it('stops at the bound of values and not before', () => {
    const body = (count: number): string =>
      `{"x":[${Array(count - 1)
        .fill('{}')
        .join(',')}]}`;
    expect(scan(body(1000), { values: 1000 }).fault).toBeUndefined();
    expect(scan(body(1001), { values: 1000 }).fault).toBe('values');
    const tiny = `{"model":"m","x":[${'{},'.repeat(9_000_000)}{}]}`;
    const stopped = scan(tiny, { values: 250_000 });
    expect(stopped.fault).toBe('values');
    expect(stopped.scanned).toBeLessThan(3_000_000);
    // Numbers count as soon as their array holds anything else.
    expect(scan(`[${'1,'.repeat(1000)}null]`, { values: 1000 }).fault).toBe('values');
    expect(scan(`[${'1,'.repeat(999)}1]`, { values: 1 }).fault).toBeUndefined();
  });

  it('refuses what is nested too deeply, has too many members or is no UTF-8', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(scan(nested(MAX_JSON_DEPTH)).fault).toBeUndefined();
    expect(scan(nested(MAX_JSON_DEPTH + 1)).fault).toBe('depth');
    expect(scan('{"a":1,"b":2}', { members: 1 }).fault).toBe('members');
    expect(scan(Buffer.from([0x22, 0xff, 0x22])).fault).toBe('encoding');
    const long = Buffer.from(`"${'€'.repeat(1_000_000)}"`);
    expect(scan(long, {}, 1000).fault).toBeUndefined();
    expect(scan(long.subarray(0, -2), {}, 1000).fault).toBe('encoding');
    expect(scan(Buffer.alloc(3_000_000, 0x80), {}, 1000).fault).toBe('encoding');
  });

  it.each(['\u0000', '\n', '\t', '\u001f'])('refuses %j in a text of any length', (control) => {
    for (const length of [0, 1, 5, 17, 31, 64, 100]) {
      for (let at = 0; at <= length; at += 3) {
        const text = `${'x'.repeat(at)}${control}${'é'.repeat(length - at)}`;
        // At every distance from the beginning of a 32-bit word.
        for (let skew = 0; skew < 4; skew++) {
          expect(scan(`${' '.repeat(skew)}"${text}"`).fault).toBe('syntax');
          expect(scan(`${' '.repeat(skew)}"${text.replace(control, ' ')}"`).fault).toBeUndefined();
        }
      }
    }
  });

  it('tells with which marks a text or name may begin', () => {
    const marks = new Marks(['asset:', 'R1dS']);
    const seen = (text: string): boolean[] => {
      const scanner = scan(text, { marks });
      return [scanner.maySee('asset:'), scanner.maySee('R1dS')];
    };
    expect(seen('{"a":["asset:x"]}')).toEqual([true, false]);
    expect(seen('{"x":1,"asset:":2}')).toEqual([true, false]);
    expect(seen('{"a":"a","x":" asset:","y":"asset","z":"\\nasset:"}')).toEqual([false, false]);
    expect(seen('["R1dSMVsi","asse"]')).toEqual([false, true]);
    expect(seen('["as\\u0073et:x"]')).toEqual([true, false]);
    expect(seen('["\\u0061sset:x"]')).toEqual([true, true]);
  });
});
