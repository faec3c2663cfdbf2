import { GatewayError } from '../../core/errors.ts';
import { payersOf } from '../ledger/ledger-call.ts';
import type { Principal } from '../principal.ts';
import type { Payer } from './payer.ts';
import type { SpendCounters } from './spend-counters.ts';
import { refuse } from './refuse.ts';
import type { Windows } from './spend.ts';

export interface FundsQuestion {
  readonly at: number;
  readonly windows: Windows;
  /** Only this process changes the counters. */
  readonly isAlone: boolean;
}

/**
 * Refuses who has already spent a limit, from the counters as last seen. Others may have corrected a charge
 * since, so where a refusal would follow they are read again, at most once a second; the rest is decided exactly
 * when the call begins.
 *
 * @throws GatewayError `key_spending_limit`, `organization_spending_limit`, `key_rate_limited`,
 *   `persistence_failed`
 */
export function checkFunds(
  counters: SpendCounters,
  principal: Principal,
  { at, windows, isAlone }: FundsQuestion,
): void | Promise<void> {
  const limited = payersOf(principal, { at, model: undefined }).filter(
    // The beginning of a call decides whether another model takes its place.
    ({ limits, budget }) => limits !== undefined && budget?.onExceed !== 'downgrade',
  );
  if (limited.length === 0) return undefined;

  const found = findSpent(counters, limited, windows);
  if (found === undefined) return undefined;
  const toError = (payer: Payer): GatewayError =>
    refuse(payer, { principal, at, windows, bound: null }, counters.spent(payer.scope));
  if (found === 'unknown') return loadAndDecide(counters, limited, { windows, toError });
  const refreshed = isAlone ? undefined : counters.refresh(found.scope);
  if (!refreshed) throw toError(found);
  return refreshed.then(() => loadAndDecide(counters, limited, { windows, toError }));
}

async function loadAndDecide(
  counters: SpendCounters,
  limited: readonly Payer[],
  { windows, toError }: { windows: Windows; toError: (payer: Payer) => GatewayError },
): Promise<void> {
  await counters.load(limited.map(({ scope }) => scope)).catch((cause: unknown) => {
    throw new GatewayError('persistence_failed', { cause });
  });
  const found = findSpent(counters, limited, windows);
  if (found && found !== 'unknown') throw toError(found);
}

/** The first whose limit is spent as far as is known; `unknown` where others may have spent theirs. */
function findSpent(
  counters: SpendCounters,
  limited: readonly Payer[],
  windows: Windows,
): Payer | 'unknown' | undefined {
  let isKnown = true;
  for (const payer of limited) {
    const spent = payer.limits && counters.isSpent(payer.scope, payer.limits, windows);
    if (spent === true) return payer;
    isKnown &&= spent !== undefined;
  }
  return isKnown ? undefined : 'unknown';
}
