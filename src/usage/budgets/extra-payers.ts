import type { Scope } from '../ledger/ledger-keys.ts';
import type { Principal } from '../principal.ts';
import type { Payer } from '../spend/payer.ts';
import type { BudgetWindow } from './budget-window.ts';
import type { Budget } from './budget.ts';
import { tokenPayers } from './token-caps.ts';

/** Facts of a call that decide which budgets it counts in. */
export interface BudgetedCall {
  /** Milliseconds since epoch. */
  readonly at: number;
  /** Model that is to answer; undefined: not known yet. */
  readonly model: string | undefined;
  /** Ids of budgets that have led the call to another model: they count it, whatever is left. */
  readonly spared?: ReadonlySet<string> | undefined;
}

const UNBOUNDED = { lifetime: Infinity };

/** Counters of a call in addition to those of its key and its organization: token caps first, then budgets. */
export function extraPayers(
  { keyId, tokenCaps, budgets = [] }: Principal,
  call: BudgetedCall,
): Payer[] {
  const payers = tokenCaps ? tokenPayers(keyId, tokenCaps, call.at) : [];
  for (const budget of budgets) if (budget.counts(call.model)) payers.push(toPayer(budget, call));
  return payers;
}

/** Counter of one window of a budget: each window has its own, so that a new one begins with nothing. */
export const budgetScope = ({ id }: Pick<Budget, 'id'>, { name }: BudgetWindow): Scope => ({
  kind: 'budget',
  id: `${id}/${name}`,
});

/**
 * A reservation in every case: recovery after a crash counts the call by it. One without a bound never refuses.
 */
function toPayer(budget: Budget, { at, spared }: BudgetedCall): Payer {
  const isBound = budget.onExceed !== 'warn' && spared?.has(budget.id) !== true;
  return {
    scope: budgetScope(budget, budget.windowAt(at)),
    limits: isBound ? { lifetime: budget.amount } : UNBOUNDED,
    refusal: budget.isOfKeys ? 'key_spending_limit' : 'organization_spending_limit',
    budget,
  };
}

/** True where a call of the model needs a known price for a budget that holds it. */
export function hasBindingBudget({ budgets }: Principal, model: string): boolean {
  return budgets?.some((one) => one.onExceed !== 'warn' && one.counts(model)) === true;
}
