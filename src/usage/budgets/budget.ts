import type { BudgetPeriod, BudgetWindow } from './budget-window.ts';

/** Amount of money for some of the calls of an organization. */
export interface Budget {
  readonly id: string;
  readonly name: string;
  /** Nano-dollars per window. */
  readonly amount: number;
  readonly per: BudgetPeriod;
  /** True for one that names its keys. */
  readonly isOfKeys: boolean;
  /** Treatment of a call that does not fit into the rest of the budget. */
  readonly onExceed: 'refuse' | 'warn' | 'downgrade';
  /** Model that answers then in place of the one that was asked for; absent unless `downgrade`. */
  readonly downgradeTo?: string | undefined;
  /** True for calls of the model; undefined: for those of every model. */
  counts(model: string | undefined): boolean;
  windowAt(at: number): BudgetWindow;
}
