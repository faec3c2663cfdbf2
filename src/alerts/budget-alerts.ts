import { fromNanos } from '../core/money.ts';
import { budget as definition, toBudget } from '../resources/kinds/budget.ts';
import type { Stored } from '../resources/store/stored.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { Store } from '../store/store.ts';
import type { BudgetWindow } from '../usage/budgets/budget-window.ts';
import type { Budget } from '../usage/budgets/budget.ts';
import { budgetScope } from '../usage/budgets/extra-payers.ts';
import { readSpend } from '../usage/spend/read-spend.ts';
import type { Alert } from './alert.ts';

const MARKS = [50, 80, 100] as const;
/** A crossing shortly before the end of a window is seen after it. */
const LATE_MS = 5 * 60_000;
/** A window that ended before is not reported. */
const MOST_LATE_MS = 7 * 24 * 3_600_000;
/** Share of a window before which a forecast says nothing. */
const LEAST_ELAPSED = 0.1;

export interface BudgetAlertsOptions {
  readonly repository: Pick<Repository, 'list'>;
  readonly store: Store;
}

/** A window of a budget with its spend. */
interface Spent {
  readonly budget: Budget;
  readonly organization: string;
  readonly window: BudgetWindow;
  /** Nano-dollars. */
  readonly settled: number;
  readonly at: number;
}

/**
 * Finds the marks that budgets have crossed by an instant, from the stored counters: every process finds the
 * same. Rejects with `StoreError`.
 *
 * @param since time of the last look; marks crossed in a window that has ended meanwhile are found
 */
export async function findBudgetAlerts(
  { repository, store }: BudgetAlertsOptions,
  { at, since }: { readonly at: number; readonly since: number },
): Promise<Alert[]> {
  const behind = Math.max(Math.min(since, at) - LATE_MS, at - MOST_LATE_MS);
  const all = await repository.list(definition, {
    organization: null,
    limit: Infinity,
    matches: ({ spec }: Stored) => spec['enabled'] === true,
  });
  const alerts: Alert[] = [];
  for (const stored of all) {
    const budget = toBudget(stored);
    const windows = new Map([behind, at].map((when) => toNamed(budget.windowAt(when))));
    for (const window of windows.values()) {
      const spend = await readSpend({ store }, budgetScope(budget, window), at);
      const { settled } = spend.lifetime;
      const organization = stored.organization ?? '';
      alerts.push(...alertsOf({ budget, organization, window, settled, at }));
    }
  }
  return alerts;
}

const toNamed = (window: BudgetWindow): [string, BudgetWindow] => [window.name, window];

function alertsOf(spent: Spent): Alert[] {
  const { budget, settled } = spent;
  const crossed = MARKS.filter((mark) => settled > 0 && settled >= (budget.amount / 100) * mark);
  const alerts = crossed.map((mark) => toAlert(spent, mark));
  const forecast = forecastOf(spent);
  if (forecast === undefined || forecast <= budget.amount || settled >= budget.amount)
    return alerts;
  return [...alerts, toForecastAlert(spent, forecast)];
}

/** Alert of a budget that a call did not fit into, or of which so many percent are spent. */
function toAlert(spent: Spent, percent: number): Alert {
  const { budget, organization, window, settled, at } = spent;
  return {
    ...idOf(budget, window, percent),
    type: 'alert.budget',
    organization,
    at,
    text: `Budget ${budget.name}: ${percent} % of ${fromNanos(budget.amount)} USD are spent (${fromNanos(settled)}, ${window.name})`,
    data: { ...factsOf(spent), percent },
  };
}

function toForecastAlert(spent: Spent, forecast: number): Alert {
  const { budget, organization, window, at } = spent;
  return {
    ...idOf(budget, window, 'forecast'),
    type: 'alert.forecast',
    organization,
    at,
    text: `Budget ${budget.name}: ${fromNanos(forecast)} USD are to be expected of ${fromNanos(budget.amount)} (${window.name})`,
    data: { ...factsOf(spent), forecast: fromNanos(forecast) },
  };
}

/** Another amount has marks of its own, and a window without an end is reported once for good. */
function idOf(
  { id, amount }: Budget,
  { name, to }: BudgetWindow,
  mark: number | 'forecast',
): Pick<Alert, 'id' | 'isForGood'> {
  return {
    id: `budget/${id}/${name}/${fromNanos(amount)}/${mark}`,
    ...(to === Infinity && { isForGood: true }),
  };
}

function factsOf({ budget, window, settled }: Spent): Alert['data'] {
  return {
    budget: budget.id,
    name: budget.name,
    window: window.name,
    amount: fromNanos(budget.amount),
    spent: fromNanos(settled),
  };
}

/** Spending at the end of the window at this rate; undefined while too little is known. */
function forecastOf({ window: { from, to }, settled, at }: Spent): number | undefined {
  const elapsed = (at - from) / (to - from);
  if (!(elapsed >= LEAST_ELAPSED && elapsed < 1)) return undefined;
  return Math.round(settled / elapsed);
}

/** Alert of a budget that a call did not fit into any more: the mark of 100 % for the rest. */
export function exceededAlert(budget: Budget, organization: string, at: number): Alert {
  const window = budget.windowAt(at);
  return {
    ...idOf(budget, window, 100),
    type: 'alert.budget',
    organization,
    at,
    text: `Budget ${budget.name}: a call did not fit into what is left of ${fromNanos(budget.amount)} USD (${window.name})`,
    data: {
      budget: budget.id,
      name: budget.name,
      window: window.name,
      amount: fromNanos(budget.amount),
      spent: null,
      percent: 100,
    },
  };
}
