import { describe, expect, it } from 'vitest';
import {
  addSpend,
  exceedsLimit,
  isSpent,
  leftOf,
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

  it('refuse what makes sums inexact, also where they are without end', () => {
    const limits = { lifetime: Infinity };
    const most = Number.MAX_SAFE_INTEGER;
    const exceeds = (held: number, reserved = 10) =>
      exceedsLimit(limits, { windows, bound: 1, held }, spent(50, reserved));
    expect(exceeds(most - 10)).toBe(false);
    expect(exceeds(most - 9)).toBe(true);
    expect(exceeds(Number.NaN)).toBe(true);
    expect(exceeds(10, -most * 2)).toBe(false);
    expect(exceedsLimit(limits, { windows, bound: most ** 2 }, spent(0, 0))).toBe(true);
    expect(leftOf(limits, windows, spent(50, 10))).toBe(most - 60);
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
    const kept = withoutPastWindows(record, windows);
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

  const spentOver = (instants: readonly string[], amount = 60): SpendRecord =>
    instants.reduce<SpendRecord>((record, instant) => {
      const now = windowsOf(Date.parse(instant));
      addSpend(record, now, { settled: amount, reserved: 0 });
      return withoutPastWindows(record, now);
    }, {});

  it('never drops the running window for later ones, which a clock that was wrong has made', () => {
    const record = spentOver([
      '2026-11-19T10:00Z',
      '2036-02-07T06:28Z',
      '2036-03-08T00:00Z',
      '2026-11-20T10:00Z',
      '2026-11-20T11:00Z',
    ]);
    const running = windowsOf(Date.parse('2026-11-20T12:00Z'));
    const spent = (window: string) => spendIn(record, window);
    expect(isSpent({ day: 120 }, running, spent)).toBe(true);
    expect(isSpent({ day: 121 }, running, spent)).toBe(false);
    expect(spent('2026-11')).toEqual({ settled: 120, reserved: 0 });
    expect(isSpent({ month: 120 }, running, spent)).toBe(true);
  });

  it('keeps what is later of a clock that is behind, and no more of it than a few windows', () => {
    const record = spentOver(['2026-11-20T10:00Z', '2026-11-21T10:00Z', '2026-08-13T10:00Z']);
    expect(spendIn(record, '2026-11-21')).toEqual({ settled: 60, reserved: 0 });
    expect(spendIn(record, '2026-11')).toEqual({ settled: 120, reserved: 0 });
    const ahead = Array.from({ length: 50 }, (_, index) => new Date(noon - index * 86_400_000));
    const days = Object.keys(spentOver(ahead.map((at) => at.toISOString())));
    expect(days.length).toBeLessThan(15);
  });
});
