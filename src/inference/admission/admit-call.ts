import type { Plan } from '../../routing/plan.ts';
import type { Downgrade } from '../../usage/ledger/ledger.ts';
import type { Call } from '../types.ts';
import { withBound } from './call-bound.ts';

/** A call with the routes that may answer it. */
export interface PlannedCall {
  readonly call: Call;
  readonly plan: Plan;
}

/**
 * Waits until the call is let in. Budgets that are spent may lead it to another model one after the other: each
 * time it begins again, since the bound of its cost is another amount.
 *
 * @param begin undefined where the model cannot answer
 * @param usual output tokens of a request that names no limit, to a model without one
 * @throws GatewayError the refusal of the ledger where no other model can answer
 */
export async function admitCall(
  first: PlannedCall,
  begin: (to: Downgrade) => Promise<PlannedCall | undefined>,
  usual: number,
): Promise<PlannedCall> {
  const spared = new Set<string>();
  for (let current = first; ;) {
    const { entry } = current.call;
    try {
      await entry.admitted;
      return current;
    } catch (refusal) {
      const { id, downgradeTo } = entry.refusedBy ?? {};
      if (id === undefined || downgradeTo === undefined || spared.has(id))
        throw withBound(refusal, current, usual);
      spared.add(id);
      const next = await begin({ model: downgradeTo, spared: new Set(spared) });
      if (!next) throw withBound(refusal, current, usual);
      current = next;
    }
  }
}
