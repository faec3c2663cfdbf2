import { describe, expect, it } from 'vitest';
import {
  addSpend,
  exceedsLimit,
  isSpent,
  spendIn,
  windowsOf,
  withoutPastWindows,
} from '../../../src/usage/spend/spend.ts';
import type { SpendRecord } from '../../../src/usage/spend/spend.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const windows = windowsOf(noon);

describe('windowsOf', () => {
  it('turns days and months over at midnight UTC', () => {
    expect(windowsOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999))).toEqual({
      life: 'life',
      day: '2026-11-30',
      month: '2026-11',
    });
    expect(windowsOf(Date.UTC(2026, 11, 1))).toEqual({
      life: 'life',
      day: '2026-12-01',
      month: '2026-12',
    });
  });
});

describe('limits', () => {
  const spent = (settled: number, reserved: number) => () => ({ settled, reserved });

  it('refuse what is left over no more, and take what just fits', () => {
    const limits = { lifetime: 100 };
    expect(exceedsLimit(limits, { windows, bound: 40 }, spent(50, 10))).toBe(false);
    expect(exceedsLimit(limits, { windows, bound: 41 }, spent(50, 10))).toBe(true);
  });

  it('are reached by what is settled, not by what is only reserved', () => {
    expect(isSpent({ lifetime: 100 }, windows, spent(99, 1))).toBe(false);
    expect(isSpent({ lifetime: 100 }, windows, spent(100, 0))).toBe(true);
  });

  it.each([
    ['lifetime', 'life'],
    ['day', '2026-11-21'],
    ['month', '2026-11'],
  ])('look at the window of a %s limit alone', (name, window) => {
    const spendOf = (asked: string) => ({ settled: asked === window ? 100 : 0, reserved: 0 });
    const others = { lifetime: 100, day: 100, month: 100, [name]: undefined };
    expect(isSpent({ [name]: 100 }, windows, spendOf)).toBe(true);
    expect(isSpent(others, windows, spendOf)).toBe(false);
  });
});

describe('withoutPastWindows', () => {
  it('keeps the running and the last window, and older ones only while something is reserved', () => {
    const record: SpendRecord = {};
    for (let day = 1; day <= 5; day++) {
      addSpend(record, windowsOf(Date.UTC(2026, 9, day)), {
        settled: 1,
        reserved: day === 2 ? 1 : 0,
      });
    }
    addSpend(record, windows, { settled: 1, reserved: 0 });
    const kept = withoutPastWindows(record);
    expect(Object.keys(kept).sort()).toEqual([
      '2026-10',
      '2026-10-02',
      '2026-10-05',
      '2026-11',
      '2026-11-21',
      'life',
    ]);
    expect(spendIn(kept, 'life')).toEqual({ settled: 6, reserved: 1 });
  });
});
