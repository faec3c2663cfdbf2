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
  /** Absent for what is no budget. */
  readonly budget?: Budget | undefined;
}
