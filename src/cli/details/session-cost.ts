import { isRecord } from '../../client/http/guards.ts';
import { toLine } from './nested-text.ts';

/**
 * `0.12 of 25.00`: what a Session has cost by list prices in USD, and its budget where it has one; `unpriced`
 * where nothing is known of the cost.
 */
export function sessionCost(session: Readonly<Record<string, unknown>>): unknown {
  const { usage, budget } = session;
  const spent = isRecord(usage) ? spentOf(usage) : undefined;
  const most = isRecord(budget) ? dollars(budget['max_list_cost']) : undefined;
  return most === undefined || spent === undefined ? spent : `${toLine(spent)} of ${most}`;
}

function spentOf({ cost, list_cost: cents }: Readonly<Record<string, unknown>>): unknown {
  return cost === null ? 'unpriced' : (cost ?? dollars(cents));
}

/** Dollars of an amount in cents. */
function dollars(amount: unknown): string | undefined {
  if (!isRecord(amount)) return undefined;
  const cents = Number(amount['amount']);
  return Number.isSafeInteger(cents) ? (cents / 100).toFixed(2) : undefined;
}
