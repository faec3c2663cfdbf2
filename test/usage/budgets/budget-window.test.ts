import { describe, expect, it } from 'vitest';
import { createBudgetWindows } from '../../../src/usage/budgets/budget-window.ts';
import type { BudgetPeriod } from '../../../src/usage/budgets/budget-window.ts';

const at = (text: string): number => Date.parse(text);
const shown = (per: BudgetPeriod, zone: string, instant: string): string[] => {
  const { name, from, to } = createBudgetWindows(per, zone)(at(instant));
  return [name, new Date(from).toISOString(), new Date(to).toISOString()];
};

describe('the window of a budget', () => {
  it.each([
    ['day', 'UTC', '2026-11-23T23:59:59.999Z', '2026-11-23', '2026-11-23T00', '2026-11-24T00'],
    ['day', 'Asia/Tokyo', '2026-11-23T15:00:00Z', '2026-11-24', '2026-11-23T15', '2026-11-24T15'],
    ['week', 'UTC', '2026-11-29T12:00:00Z', 'week-2026-11-23', '2026-11-23T00', '2026-11-30T00'],
    ['week', 'UTC', '2027-01-01T00:00:00Z', 'week-2026-12-28', '2026-12-28T00', '2027-01-04T00'],
    ['month', 'UTC', '2026-12-31T23:00:00Z', '2026-12', '2026-12-01T00', '2027-01-01T00'],
    ['month', 'Europe/Berlin', '2026-10-31T23:00:00Z', '2026-11', '2026-10-31T23', '2026-11-30T23'],
    // Clocks go forward: the day has 23 hours, the month begins in another offset than it ends.
    [
      'day',
      'Europe/Berlin',
      '2026-03-29T12:00:00Z',
      '2026-03-29',
      '2026-03-28T23',
      '2026-03-29T22',
    ],
    ['month', 'Europe/Berlin', '2026-03-15T12:00:00Z', '2026-03', '2026-02-28T23', '2026-03-31T22'],
  ] as const)('per %s in %s at %s is %s', (...[per, zone, instant, name, from, to]) => {
    expect(shown(per, zone, instant)).toEqual([name, `${from}:00:00.000Z`, `${to}:00:00.000Z`]);
  });

  it('begins with the first instant of a day that has no midnight, and ends where the next begins', () => {
    const windowAt = createBudgetWindows('day', 'Africa/Cairo');
    const day = windowAt(at('2026-04-24T12:00:00Z'));
    expect(new Date(day.from).toISOString()).toBe('2026-04-23T22:00:00.000Z');
    expect(windowAt(day.from - 1).to).toBe(day.from);
  });

  it('follows its neighbours without a gap through a whole year, whatever the clocks do', () => {
    for (const zone of ['America/Havana', 'Africa/Cairo', 'Pacific/Apia', 'Asia/Kathmandu']) {
      const windowAt = createBudgetWindows('day', zone);
      let window = windowAt(at('2026-01-01T00:00:00Z'));
      const names = new Set<string>();
      for (let days = 0; days < 366; days++) {
        names.add(window.name);
        const next = windowAt(window.to);
        expect([zone, next.from]).toEqual([zone, window.to]);
        window = next;
      }
      expect(names.size).toBe(366);
    }
  });

  it('never ends for a lifetime', () => {
    expect(createBudgetWindows('lifetime', 'UTC')(0)).toEqual({
      name: 'lifetime',
      from: -Infinity,
      to: Infinity,
    });
  });
});
