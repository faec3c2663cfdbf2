import type { Usage } from '../../core/usage.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { costOf } from '../../usage/spend/pricing.ts';
import { isPriced } from '../../usage/usage.ts';
import type { Pricing } from '../../usage/usage.ts';

/**
 * Nano-dollars at the dearest of the prices at which the model may be billed, its fallbacks included; null
 * where none is known.
 */
export function listCostOf(catalog: Catalog, model: string, usage: Usage): number | null {
  const known = pricesOf(catalog, model).filter(isPriced);
  return known.length === 0 ? null : Math.max(...known.map((pricing) => costOf(usage, pricing)));
}

/** False for a model without a price above zero: its costs are unknown. */
export function hasListPrice(catalog: Catalog, model: string): boolean {
  return pricesOf(catalog, model).some((pricing) =>
    Object.values(pricing).some((price) => price > 0),
  );
}

function pricesOf({ models }: Catalog, id: string): Pricing[] {
  const model = models.get(id);
  const all = [model, ...(model?.fallbacks ?? []).map((name) => models.get(name))];
  return all.flatMap((one) => one?.routes ?? []).map(({ pricing }) => pricing);
}
