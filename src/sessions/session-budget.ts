import type { MonetaryAmount, SessionBudget } from './session.ts';
import { z } from 'zod';
import { GatewayError } from '../core/errors.ts';
import { toNanos } from '../core/money.ts';
import type { SessionRow } from './session-row.ts';

const NANOS_PER_CENT = toNanos('0.01');

export const budget = z.object({
  type: z.literal('limit'),
  max_list_cost: z.object({
    amount: z.string().regex(/^[1-9]\d{0,8}$/, 'expected whole cents as a text such as "2500"'),
    currency: z.literal('USD'),
  }),
});

/** Cost of a Session in whole cents, rounded down. */
export function toMonetaryAmount(nanos: number): MonetaryAmount {
  return { amount: String(Math.floor(nanos / NANOS_PER_CENT)), currency: 'USD' };
}

/** Nothing may be spent any more. Costs are in nano-dollars. */
export function isSpent({ budget, cost }: Pick<SessionRow, 'budget' | 'cost'>): boolean {
  return budget !== null && cost >= Number(budget.max_list_cost.amount) * NANOS_PER_CENT;
}

/**
 * The budget after an update: one that a Session was made with can be replaced or, for good, taken away.
 *
 * @throws GatewayError `invalid_request` of the type `budget_create_only` or `budget_not_raised`
 */
export function changeBudget(
  { budget: before, cost }: Pick<SessionRow, 'budget' | 'cost'>,
  next: SessionBudget | null | undefined,
): SessionBudget | null {
  if (next === undefined) return before;
  if (next === null) return null;
  if (before === null)
    throw refused('budget_create_only', 'a budget is given when a session is created');
  if (isSpent({ budget: next, cost }))
    throw refused('budget_not_raised', 'the session has already cost as much');
  return next;
}

function refused(type: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `budget: ${what}`, param: 'budget', type });
}
