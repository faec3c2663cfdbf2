import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { compare, compareMany } from './same-as-parse.ts';

const MANY = runsOf(20_000, 2_000_000);

describe('the scanner beside the parser of the language', () => {
  it.each([
    [5_000, 17],
    [MANY, SEED],
  ])(
    verifies('json.scan.same-as-parse', 'agrees on %i documents of seed %i, sound or damaged'),
    (runs, seed) => {
      const { sound } = compareMany(seed, runs);
      // Neither side of the verdict is there for show.
      expect(sound).toBeGreaterThan(runs / 5);
      expect(sound).toBeLessThan(runs * 0.9);
    },
    60 * 60_000,
  );

  it.each([
    '{"a":1,"a":2,"\\u0061":3}',
    '{"__proto__":{"x":1},"constructor":null,"__proto__":"asset:"}',
    '{"\\u005f_proto__":1}',
    '{"mo\\u0064el":"x","model":"y"}',
    '{"lone":"\\ud800","pair":"\\ud83d\\ude00","swapped":"\\ude00\\ud83d"}',
    '{"\\ud800":1}',
    '{"zero":-0,"large":1e400,"exact":9007199254740993}',
    '{"n":1}\u0000',
    '{"n":"\u0001"}',
    '{"n":"\\x"}',
    '{"n":"\\u00g0"}',
    '\ufeff{}',
    '{"n":1,}',
    '{"n":[1,]}',
    '',
    ' ',
    '-',
    '"',
    '"\\',
    '"\\u',
    '{"',
    '{"a"',
    '{"a":',
    '[',
  ])('agrees on %j', (text) => {
    for (const budget of [1, 2, 3, 7]) compare(Buffer.from(text), budget);
  });

  it.each([
    ['a byte that begins no character', [0x22, 0xff, 0x22]],
    ['a character cut short', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong character', [0x22, 0xc0, 0xaf, 0x22]],
    ['half of a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a character beyond the last one', [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22]],
  ])('agrees on %s', (_what, bytes) => void compare(Buffer.from(bytes), 1));
});
