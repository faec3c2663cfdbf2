import { describe, expect, it } from 'vitest';
import {
  budgetOfEffort,
  effortOfBudget,
  EFFORTS,
  nearestEffort,
} from '../../../src/protocols/capabilities/efforts.ts';
import { verifies } from '../../requirements.ts';

describe('efforts and budgets of reasoning', () => {
  it(
    verifies(
      'capabilities.thinking.effort-budget',
      'turns every effort into a budget that turns back into it',
    ),
    () => {
      for (const effort of EFFORTS) expect(effortOfBudget(budgetOfEffort(effort))).toBe(effort);
    },
  );

  it('gives a larger budget no smaller effort', () => {
    const efforts = [0, 1, 1023, 1024, 4095, 4096, 16_383, 16_384, 32_768, 65_536, 1e9].map(
      (tokens) => EFFORTS.indexOf(effortOfBudget(tokens)),
    );
    expect(efforts).toEqual(efforts.toSorted((one, other) => one - other));
    expect(effortOfBudget(1)).toBe('minimal');
  });

  it('finds the effort that comes nearest, the lesser of two', () => {
    expect(nearestEffort('xhigh', ['low', 'medium', 'high'])).toBe('high');
    expect(nearestEffort('minimal', ['low', 'high'])).toBe('low');
    expect(nearestEffort('medium', ['low', 'high'])).toBe('low');
    expect(nearestEffort('high', [])).toBeUndefined();
  });
});
