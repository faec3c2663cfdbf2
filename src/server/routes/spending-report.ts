import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { fromNanos } from '../../core/money.ts';
import { key as keyDefinition } from '../../resources/kinds/key.ts';
import { organization as organizationDefinition } from '../../resources/kinds/organization.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { Store } from '../../store/store.ts';
import { lastUse } from '../../usage/ledger/last-use.ts';
import { readSpend } from '../../usage/spend/read-spend.ts';

export interface SpendingDeps {
  readonly repository: Repository;
  readonly store: Store;
  readonly clock: Clock;
}

const EVERYWHERE = { organization: null };
const WINDOWS = ['lifetime', 'month', 'day'] as const;

/**
 * Reports the spending and the last use of a key, for `?key=` with its id, or of an organization, for
 * `?organization=` with its id or name. Throws `invalid_request` unless one of them is named,
 * `not_found`.
 */
export async function reportSpending(search: string, deps: SpendingDeps): Promise<object> {
  const { repository, store, clock } = deps;
  const query = new URLSearchParams(search);
  const [keyNamed, ownerNamed] = [query.get('key') ?? '', query.get('organization') ?? ''];
  if ((keyNamed === '') === (ownerNamed === '')) {
    throw new GatewayError('invalid_request', { message: 'expected key or organization' });
  }
  const isKey = keyNamed !== '';
  const definition = isKey ? keyDefinition : organizationDefinition;
  const { id, organization } = await repository.get(
    definition,
    isKey ? keyNamed : ownerNamed,
    EVERYWHERE,
  );
  const spend = await readSpend(
    { store },
    { kind: isKey ? 'key' : 'organization', id },
    clock.now(),
  );
  const used = await lastUse(
    { store },
    isKey ? { organization: organization ?? '', key: id } : { organization: id },
  );
  return {
    type: 'spending',
    currency: 'USD',
    spent: Object.fromEntries(WINDOWS.map((name) => [name, fromNanos(spend[name].settled)])),
    reserved: fromNanos(spend.lifetime.reserved),
    last_used_at: used.at,
    last_used_on: used.day,
  };
}
