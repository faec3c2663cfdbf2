import { describe, expect, it } from 'vitest';
import {
  budget,
  changeBudget,
  isSpent,
  toMonetaryAmount,
} from '../../src/sessions/session-budget.ts';
import type { SessionBudget } from '../../src/sessions/session.ts';

const CENT = 10_000_000;
const limit = (amount: string): SessionBudget => ({
  type: 'limit',
  max_list_cost: { amount, currency: 'USD' },
});

describe('the budget of a Session', () => {
  it.each(['1', '2500', '999999999'])('can be %s cents', (amount) => {
    expect(budget.parse(limit(amount))).toEqual(limit(amount));
  });

  it.each(['0', '01', '', '1.5', '-1', '1000000000', '1x'])('cannot be %j', (amount) => {
    expect(budget.safeParse(limit(amount)).success).toBe(false);
  });

  it('is spent once the Session has cost as much', () => {
    expect(isSpent({ budget: limit('2'), cost: 2 * CENT })).toBe(true);
    expect(isSpent({ budget: limit('2'), cost: 2 * CENT - 1 })).toBe(false);
    expect(isSpent({ budget: null, cost: 1e12 })).toBe(false);
  });

  it.each([
    [0, '0'],
    [CENT - 1, '0'],
    [CENT, '1'],
    [250 * CENT + 1, '250'],
  ])('shows %i nano-dollars as %s whole cents', (nanos, amount) => {
    expect(toMonetaryAmount(nanos)).toEqual({ amount, currency: 'USD' });
  });
});

describe('an update of the budget', () => {
  it('keeps it where nothing is said', () => {
    expect(changeBudget({ budget: limit('1'), cost: CENT }, undefined)).toEqual(limit('1'));
    expect(changeBudget({ budget: null, cost: 0 }, undefined)).toBeNull();
  });

  it('takes it away', () => {
    expect(changeBudget({ budget: limit('1'), cost: CENT }, null)).toBeNull();
    expect(changeBudget({ budget: null, cost: 0 }, null)).toBeNull();
  });

  it('replaces it by one that is not spent', () => {
    expect(changeBudget({ budget: limit('1'), cost: CENT }, limit('2'))).toEqual(limit('2'));
  });

  it.each([
    [null, 0, 'budget_create_only'],
    [limit('1'), 2 * CENT, 'budget_not_raised'],
  ])('of %j at a cost of %i is refused as %s', (before, cost, type) => {
    const update = () => changeBudget({ budget: before, cost }, limit('2'));
    expect(update).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'budget', type }) as Error,
    );
  });
});
