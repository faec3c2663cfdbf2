import { describe, expect, it } from 'vitest';
import {
  bytes,
  clockTime,
  compact,
  count,
  counted,
  dateTime,
  duration,
  listed,
  money,
  percent,
  relative,
} from '../../../src/console/logic/format.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a span of time', () => {
  it.each([
    [undefined, '–'],
    [0, '0 ms'],
    [0.04, '0 ms'],
    [9.94, '9.9 ms'],
    [10, '10 ms'],
    [10.4, '10 ms'],
    [999.4, '999 ms'],
    [1_000, '1.0 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [MINUTE, '1 min'],
    [61_000, '1 min 1 s'],
    [59 * MINUTE + 59_400, '59 min 59 s'],
    [59 * MINUTE + 59_500, '1 h'],
    [HOUR + MINUTE, '1 h 1 min'],
    [23 * HOUR + 59 * MINUTE, '23 h 59 min'],
    [DAY, '1 d'],
    [DAY + HOUR, '1 d 1 h'],
    [9 * DAY + 23 * HOUR + 59 * MINUTE, '9 d 23 h'],
  ])('of %s ms is %s', (ms, shown) => expect(duration(ms)).toBe(shown));
});

describe('money', () => {
  it.each([
    [undefined, '–'],
    [0, '$0'],
    ['-0', '$0'],
    [999.994, '$999.99'],
    [1_000, '$1,000'],
    [1_234_567.8, '$1,234,568'],
    [1, '$1.00'],
    [0.999_9, '$0.9999'],
    [0.001, '$0.0010'],
    [0.000_99, '$0.00099'],
    [0.000_000_1, '$0.0000001'],
    [0.000_000_09, '<$0.0000001'],
    [-0.000_000_09, '-<$0.0000001'],
    [-1_000, '-$1,000'],
    [-0.5, '-$0.5000'],
  ])('of %s is %s', (amount, shown) => expect(money(amount)).toBe(shown));
});

describe('numbers', () => {
  it.each([
    [count(undefined), '–'],
    [count(0), '0'],
    [count(999), '999'],
    [count(1_000), '1,000'],
    [count(100_000), '100,000'],
    [count(1_000_000.4), '1,000,000'],
    [compact(9_999), '9,999'],
    [compact(10_000), '10 k'],
    [compact(10_050), '10.1 k'],
    [compact(999_000), '999 k'],
    [compact(1_000_000), '1 M'],
    [compact(99_940_000), '99.9 M'],
    [compact(150_400_000), '150 M'],
    [compact(2_300_000_000), '2.3 G'],
    [percent(undefined), '–'],
    [percent(Number.NaN), '–'],
    [percent(Infinity), '–'],
    [percent(0), '0 %'],
    [percent(0.000_4), '0 %'],
    [percent(0.099_9), '10 %'],
    [percent(0.1), '10 %'],
    [percent(0.105), '11 %'],
    [percent(1), '100 %'],
    [percent(-0.05), '-5 %'],
    [counted(0, 'turn'), '0 turns'],
    [counted(null, 'turn'), '– turns'],
    [counted(1_000, 'turn'), '1,000 turns'],
    [bytes(0), '0 B'],
    [bytes(1_023), '1023 B'],
    [bytes(1_024), '1 KiB'],
    [bytes(1_536), '1.5 KiB'],
    [bytes(1_048_576), '1 MiB'],
    [bytes(10_590_618), '10.1 MiB'],
  ])('%s is %s', (shown, expected) => expect(shown).toBe(expected));
});

describe('the distance of an instant', () => {
  it.each([
    [0, 'now'],
    [999, 'now'],
    [-999, 'now'],
    [1_000, '1 s ago'],
    [-1_000, 'in 1 s'],
    [59_999, '59 s ago'],
    [MINUTE, '1 min ago'],
    [HOUR - 1, '59 min ago'],
    [HOUR, '1 h ago'],
    [DAY - 1, '23 h ago'],
    [DAY, '1 d ago'],
    [-40 * DAY, 'in 40 d'],
  ])('that is %i ms past is %s', (gap, shown) => {
    expect(relative(1_000_000 * DAY - gap, 1_000_000 * DAY)).toBe(shown);
  });
});

describe('the clock of the viewer', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime();

  it('has two digits each', () => {
    expect(clockTime(at)).toBe('03:04:05');
    expect(dateTime(at)).toBe('2026-01-02 03:04:05');
    expect(dateTime(new Date(2026, 11, 31, 23, 59, 59).getTime())).toBe('2026-12-31 23:59:59');
  });
});

describe('the number of rows of a list', () => {
  it.each([
    [0, false, '0 keys'],
    [1, false, '1 key'],
    [10_000, true, 'the first 10,000 keys; there are more'],
  ])('%i, of more: %s, is %s', (length, isCut, shown) => {
    expect(listed({ rows: Array.from({ length }), isCut }, 'key')).toBe(shown);
  });
});
