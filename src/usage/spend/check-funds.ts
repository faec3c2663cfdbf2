import { GatewayError } from '../../core/errors.ts';
import { payersOf } from '../ledger/ledger-call.ts';
import type { Principal } from '../principal.ts';
import type { SpendCounters } from './spend-counters.ts';
import type { Windows } from './spend.ts';

/**
 * Refuses who has already spent a limit, from the counters as last seen: what was spent in a window
 * never shrinks, so a refusal is right, and the rest is decided exactly when the call begins.
 *
 * @throws GatewayError `key_spending_limit`, `organization_spending_limit`, `persistence_failed`
 */
export function checkFunds(
  counters: SpendCounters,
  principal: Principal,
  windows: Windows,
): void | Promise<void> {
  const { key, organization } = payersOf(principal);
  const limited = [key, organization].filter(({ limits }) => limits !== undefined);
  if (limited.length === 0) return undefined;

  const decide = (): boolean => {
    let known = true;
    for (const { scope, limits } of limited) {
      const spent = limits && counters.isSpent(scope, limits, windows);
      if (spent === true) {
        throw new GatewayError(
          scope.kind === 'key' ? 'key_spending_limit' : 'organization_spending_limit',
        );
      }
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
