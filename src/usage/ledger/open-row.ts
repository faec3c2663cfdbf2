import { amountIn } from '../budgets/token-caps.ts';
import { windowsOf } from '../spend/spend.ts';
import type { SpendChange } from './commit-spend.ts';
import type { Scope } from './ledger-keys.ts';

/** An open reservation, for the process that has to release it. */
export interface OpenRow {
  readonly at: number;
  readonly bound: number;
  /** Bound in scopes that count tokens. Default 0. */
  readonly tokens?: number;
  readonly scopes: readonly Scope[];
}

/** Changes that make a reservation, or take it back. */
export function reservationsOf(
  { at, bound, tokens = 0, scopes }: OpenRow,
  sign: 1 | -1,
): SpendChange[] {
  const windows = windowsOf(at);
  return scopes.map((scope) => ({
    scope,
    windows,
    change: { settled: 0, reserved: sign * amountIn(scope, { cost: bound, tokens }) },
  }));
}
