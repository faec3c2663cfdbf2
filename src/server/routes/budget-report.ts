import { MARKS } from '../../alerts/budget-alerts.ts';
import { fromNanos } from '../../core/money.ts';
import { budget as definition, toBudget } from '../../resources/kinds/budget.ts';
import { organization as owner } from '../../resources/kinds/organization.ts';
import type { Stored } from '../../resources/store/stored.ts';
import { budgetScope } from '../../usage/budgets/extra-payers.ts';
import { readSpend } from '../../usage/spend/read-spend.ts';
import type { SpendingDeps } from './spending-report.ts';

/** Sum spent of a budget in its running window; money in decimal USD. */
export interface BudgetSpending {
  readonly id: string;
  readonly type: 'budget_spending';
  readonly name: string;
  readonly organization: string | null;
  readonly organization_name: string | null;
  readonly enabled: boolean;
  readonly per: string;
  /** Beginning and end of the window, RFC 3339; null for a lifetime. */
  readonly window_start: string | null;
  readonly resets_at: string | null;
  readonly amount: string;
  readonly spent: string;
  /** Amount that calls under way may still cost. */
  readonly reserved: string;
  /** Amount less `spent`; never below zero. */
  readonly left: string;
  /** Percents of the amount at which it raises alerts. */
  readonly alerts_at: readonly number[];
}

/** Reports the budgets of an organization, or of all of them (null). Rejects with `StoreError`. */
export async function reportBudgets(
  organization: string | null,
  deps: SpendingDeps,
): Promise<{ data: BudgetSpending[]; next_page: null }> {
  const listed = await deps.repository.list(definition, {
    organization,
    limit: Infinity,
    matches: () => true,
  });
  const nameOf = await organizationNames(listed, deps);
  const toRow = (one: Stored) => toSpending(one, nameOf(one.organization), deps);
  return { data: await Promise.all(listed.map(toRow)), next_page: null };
}

async function organizationNames(
  listed: readonly Stored[],
  { repository }: Pick<SpendingDeps, 'repository'>,
): Promise<(id: string | null) => string | null> {
  const ids = [...new Set(listed.flatMap(({ organization: id }) => id ?? []))];
  const found = await Promise.all(
    ids.map((id) => repository.find(owner, id, { organization: null })),
  );
  const names = new Map(found.flatMap((one) => (one ? [[one.id, one.spec.name] as const] : [])));
  return (id) => (id === null ? null : (names.get(id) ?? null));
}

async function toSpending(
  stored: Stored,
  organizationName: string | null,
  { store, clock }: Pick<SpendingDeps, 'store' | 'clock'>,
): Promise<BudgetSpending> {
  const budget = toBudget(stored);
  const window = budget.windowAt(clock.now());
  const { settled, reserved } = (
    await readSpend({ store }, budgetScope(budget, window), clock.now())
  ).lifetime;
  return {
    id: stored.id,
    type: 'budget_spending',
    name: budget.name,
    organization: stored.organization,
    organization_name: organizationName,
    enabled: stored.spec['enabled'] === true,
    per: budget.per,
    window_start: toInstant(window.from),
    resets_at: toInstant(window.to),
    amount: fromNanos(budget.amount),
    spent: fromNanos(settled),
    reserved: fromNanos(reserved),
    left: fromNanos(Math.max(0, budget.amount - settled)),
    alerts_at: MARKS,
  };
}

const toInstant = (at: number): string | null =>
  Number.isFinite(at) ? new Date(at).toISOString() : null;
