import { createBudgetWindows } from '../../../src/usage/budgets/budget-window.ts';
import type { BudgetPeriod } from '../../../src/usage/budgets/budget-window.ts';
import type { Budget } from '../../../src/usage/budgets/budget.ts';

/** A budget for every model; `zone` is where its windows begin. */
export function sampleBudget(
  overrides: Partial<Budget> & { zone?: string; per?: BudgetPeriod } = {},
): Budget {
  const { zone = 'UTC', per = 'month', ...rest } = overrides;
  return {
    id: 'bud_1',
    name: 'team',
    amount: 1_000,
    per,
    isOfKeys: false,
    onExceed: 'refuse',
    counts: () => true,
    windowAt: createBudgetWindows(per, zone),
    ...rest,
  };
}
