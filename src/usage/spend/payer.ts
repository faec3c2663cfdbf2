import type { ErrorCode } from '../../core/errors.ts';
import type { Budget } from '../budgets/budget.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { SpendLimits } from '../principal.ts';

/** One of those that a call is charged to. With a limit, the call reserves in the shared counter. */
export interface Payer {
  readonly scope: Scope;
  readonly limits: SpendLimits | undefined;
  /** Error of a call that does not fit its limits. */
  readonly refusal: ErrorCode;
  /** Absent unless it is a budget. */
  readonly budget?: Budget | undefined;
}

/** The scopes whose shared counter the call needs. */
export function limitedScopes({ payers }: { readonly payers: readonly Payer[] }): Scope[] {
  const scopes: Scope[] = [];
  for (const { scope, limits } of payers) if (limits) scopes.push(scope);
  return scopes;
}
