import { GatewayError } from '../../core/errors.ts';
import { payersOf } from '../ledger/ledger-call.ts';
import type { Principal } from '../principal.ts';
import type { SpendCounters } from './spend-counters.ts';
import type { Windows } from './spend.ts';

/**
 * Refuses who has already spent a limit, from the counters as last seen: what was spent in a window
 * never shrinks, so a refusal is right, and the rest is decided exactly when the call begins.
 *
 * @throws GatewayError `key_spending_limit`, `organization_spending_limit`, `key_rate_limited`,
 *   `persistence_failed`
 */
export function checkFunds(
  counters: SpendCounters,
  principal: Principal,
  { at, windows }: { at: number; windows: Windows },
): void | Promise<void> {
  const limited = payersOf(principal, { at, model: undefined }).filter(
    // The beginning of a call decides whether another model takes its place.
    ({ limits, budget }) => limits !== undefined && budget?.onExceed !== 'downgrade',
  );
  if (limited.length === 0) return undefined;

  const decide = (): boolean => {
    let known = true;
    for (const { scope, limits, refusal } of limited) {
      const spent = limits && counters.isSpent(scope, limits, windows);
      if (spent === true) throw new GatewayError(refusal);
      known &&= spent !== undefined;
    }
    return known;
  };

  if (decide()) return undefined;
  return counters.load(limited.map(({ scope }) => scope)).then(
    () => void decide(),
    (cause: unknown) => {
      throw new GatewayError('persistence_failed', { cause });
    },
  );
}
