import type { LimitReached } from '../core/errors.ts';
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

const DAY_LENGTH = '2026-11-21'.length;
/** Percents of a budget at which an alert is raised. */
export const MARKS = [50, 80, 100] as const;
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

/** Alert of a budget of which so many percent are spent. */
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
  mark: number | string,
): Pick<Alert, 'id' | 'isForGood'> {
  return {
    id: `budget/${id}/${name}/${fromNanos(amount)}/${mark}`,
    ...(to === Infinity && { isForGood: true }),
  };
}

function factsOf({
  budget,
  window,
  settled,
}: Pick<Spent, 'budget' | 'window' | 'settled'>): Alert['data'] {
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

/** Call that did not fit into the rest of a budget. */
export interface UnfitCall {
  readonly id: string;
  readonly organization: string;
  readonly model: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  /** State of the budget that refused it. */
  readonly limit: Pick<LimitReached, 'used' | 'held' | 'needed'>;
}

/** One for each budget and day (UTC). It uses up none of the marks, which are of money that is spent. */
export function refusalAlert(budget: Budget, call: UnfitCall): Alert {
  const { id, organization, model, at, limit } = call;
  const window = budget.windowAt(at);
  const day = new Date(at).toISOString().slice(0, DAY_LENGTH);
  const left = fromNanos(Math.max(0, budget.amount - limit.used - limit.held));
  const needed = fromNanos(limit.needed ?? 0);
  const { downgradeTo } = budget;
  const end = downgradeTo === undefined ? 'it was refused' : `${downgradeTo} was to answer it`;
  return {
    id: idOf(budget, window, `refused/${day}`).id,
    type: 'alert.refusal',
    organization,
    at,
    text: `Budget ${budget.name}: a call of ${model} did not fit: it could cost ${needed} USD, and of ${fromNanos(budget.amount)} USD ${left} are left (${window.name}); ${end}; first of ${day}: ${id}`,
    data: {
      ...factsOf({ budget, window, settled: limit.used }),
      left,
      needed,
      model,
      request: id,
      day,
    },
  };
}
