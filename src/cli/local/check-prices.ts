import type { DesiredState } from '../../config/objects/desired.ts';
import { isRecord } from '../../client/http/guards.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { isListed } from '../../usage/prices/price-list.ts';
import type { PriceList } from '../../usage/prices/price-list.ts';
import { isPriced } from '../../usage/usage.ts';
import type { Finding } from './health-checks.ts';

const SHOWN = 20;

/** Declared routes without a known price, which calls under a spending limit do not use. */
export async function checkPrices(
  { objects }: DesiredState,
  { now, load }: { now: number; load(): Promise<PriceList> },
): Promise<Finding> {
  const typeOf = new Map(
    objects
      .filter(({ kind }) => kind === 'provider')
      .map(({ identity, body }) => [identity, String(body['type'] ?? body['provider_type'])]),
  );
  let list: PriceList | undefined;
  const unpriced: string[] = [];
  for (const { kind, identity, body } of objects) {
    if (kind !== 'model' || isDeclared(body['pricing'])) continue;
    for (const route of Array.isArray(body['routes']) ? body['routes'].filter(isRecord) : []) {
      const provider = String(route['provider']);
      const type = typeOf.get(provider);
      // A provider that is not declared here is known to the server alone.
      if (type === undefined || isDeclared(route['pricing']) || PROVIDERS.get(type)?.isFree)
        continue;
      if (isListed(type)) {
        list ??= await load();
        const own = identity.slice(identity.indexOf('/') + 1);
        const named = route['upstream_model'];
        const upstream = typeof named === 'string' ? named : own;
        if (isPriced(list.find(type, upstream, now)?.pricing ?? {})) continue;
      }
      unpriced.push(`${identity} (${provider})`);
    }
  }
  return toFinding(unpriced);
}

function isDeclared(pricing: unknown): boolean {
  return pricing === 'free' || (isRecord(pricing) && Object.keys(pricing).length > 0);
}

function toFinding(unpriced: readonly string[]): Finding {
  const name = 'prices';
  if (unpriced.length === 0) return { name, state: 'ok', message: 'every route has a known price' };
  const more = unpriced.length > SHOWN ? `, and ${unpriced.length - SHOWN} more` : '';
  return {
    name,
    state: 'warn',
    message: `unpriced: ${unpriced.slice(0, SHOWN).join(', ')}${more}`,
    hint: 'calls under a spending limit do not use them; set pricing, free too, on the model or route',
  };
}
