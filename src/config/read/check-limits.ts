import { findSmallLimit, reservationsOf, SMALL_LIMIT_HINT } from '../../routing/small-limits.ts';
import type { ReservingModel } from '../../routing/small-limits.ts';
import { mergePricing } from '../../routing/resolve-pricing.ts';
import type { PricingRecord } from '../../routing/resolve-pricing.ts';
import type { ModelType } from '../../core/model-type.ts';
import { isListed } from '../../usage/prices/price-list.ts';
import type { PriceList } from '../../usage/prices/price-list.ts';
import { isPriced } from '../../usage/usage.ts';
import type { Pricing } from '../../usage/usage.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Places } from '../source/locate.ts';
import { declaredRoutes, entriesOf } from './check-prices.ts';
import type { PublishedPrices } from './check-prices.ts';

type Tree = Readonly<Record<string, unknown>>;

const COLLECTIONS = ['organizations', 'keys', 'budgets'] as const;

export interface LimitsOptions {
  readonly prices: PublishedPrices;
  /** Output tokens of a model without a maximum (`server.limits.output_tokens_bound`). */
  readonly usual: number;
}

/**
 * Warns of declared limits of money that cannot pay for one call of a declared model. Looks for published
 * prices only where there is such a limit.
 */
export async function checkLimits(
  tree: Tree,
  places: Places,
  { prices, usual }: LimitsOptions,
): Promise<Diagnostic[]> {
  const limiting = COLLECTIONS.flatMap((name) =>
    entriesOf(tree, name).map((entry, index) => ({ name, entry, index })),
  );
  if (limiting.every(({ name, entry }) => !isLimited(name, entry))) return [];
  const reservations = reservationsOf(await modelsIn(tree, prices), usual);
  return limiting.flatMap(({ name, entry, index }): Diagnostic[] => {
    const found = findSmallLimit(name, entry, () => reservations);
    if (!found) return [];
    const path = [name, index, ...found.path.split('.')];
    const at = { ...places.find(tree, path), path: formatPath(path) };
    return [{ ...at, severity: 'warning', message: found.text, hint: SMALL_LIMIT_HINT }];
  });
}

/** True where an amount of money may refuse calls. */
function isLimited(name: (typeof COLLECTIONS)[number], entry: Tree): boolean {
  // Any price is more than nothing left.
  const dear = [{ model: '*', outputTokens: 0, cost: Number.MAX_SAFE_INTEGER }];
  const any = { ...entry, allowed_models: null, match: {} };
  return findSmallLimit(name, any, () => dear) !== undefined;
}

/** Declared models with the prices of their routes. */
async function modelsIn(tree: Tree, prices: PublishedPrices): Promise<ReservingModel[]> {
  let list: PriceList | undefined;
  const models = new Map<string, ReservingModel & { readonly routes: { pricing: Pricing }[] }>();
  for (const { model, route, name, type, upstream } of declaredRoutes(tree)) {
    const own = mergePricing(priceOf(model), priceOf(route));
    if (!isPriced(own) && isListed(type)) list ??= await prices.load();
    const published = list?.find(type, upstream, prices.now)?.pricing ?? {};
    const known = models.get(name) ?? { ...toModel(model), id: name, routes: [] };
    known.routes.push({ pricing: isPriced(own) ? own : published });
    models.set(name, known);
  }
  return [...models.values()];
}

function priceOf({ pricing }: Tree) {
  return pricing as PricingRecord | null | undefined;
}

function toModel(model: Tree): Pick<ReservingModel, 'type' | 'maxOutputTokens'> {
  const { model_type: type = model['type'] ?? 'llm', max_output_tokens: most } = model;
  return { type: type as ModelType, maxOutputTokens: typeof most === 'number' ? most : undefined };
}
