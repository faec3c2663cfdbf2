import { PROVIDERS } from '../../providers/registry.ts';
import { isListed } from '../../usage/prices/price-list.ts';
import type { PriceList } from '../../usage/prices/price-list.ts';
import { isPriced } from '../../usage/usage.ts';
import { isRecord } from '../objects/record.ts';
import { ObjectRef } from '../objects/references.ts';
import type { Diagnostic, Place } from '../source/diagnostic.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';

/** Published prices, by which routes without `pricing` are judged. */
export interface PublishedPrices {
  /** Milliseconds since epoch. */
  readonly now: number;
  /** Runs when the first route leads to a vendor whose prices are published. */
  load(): Promise<PriceList>;
}

/** Declared route, or API, without a known price. */
export interface UnpricedRoute extends Place {
  /** `acme/fast (backup)` for a route, `weather` for an API. */
  readonly name: string;
  readonly kind: 'route' | 'api';
  /** `models[0].routes[1]` or `apis[0]`. */
  readonly path: string;
}

type Tree = Readonly<Record<string, unknown>>;

/**
 * Finds what calls under a spending limit do not use, in the order of the tree. Left out are routes
 * to a provider that is not declared here, which only the server knows, and disabled entries.
 */
export async function findUnpriced(
  tree: Tree,
  places: Places,
  prices: PublishedPrices,
): Promise<UnpricedRoute[]> {
  const found: UnpricedRoute[] = [];
  const add = (route: Pick<UnpricedRoute, 'name' | 'kind'>, path: Path): void =>
    void found.push({ ...places.find(tree, path), ...route, path: formatPath(path) });
  let list: PriceList | undefined;
  for (const { model, route, name, provider, type, upstream, path } of declaredRoutes(tree)) {
    if (isSaid(model['pricing']) || isSaid(route['pricing'])) continue;
    if (PROVIDERS.get(type)?.isFree) continue;
    if (isListed(type)) list ??= await prices.load();
    if (isPriced(list?.find(type, upstream, prices.now)?.pricing ?? {})) continue;
    add({ name: `${name} (${provider})`, kind: 'route' }, path);
  }
  for (const [at, api] of entriesOf(tree, 'apis').entries())
    if (isOn(api) && !isSaid(api['pricing']))
      add({ name: nameOf(api['name']), kind: 'api' }, ['apis', at]);
  return found;
}

/** Enabled route of an enabled model, to a provider that the files declare. */
interface DeclaredRoute {
  readonly model: Tree;
  readonly route: Tree;
  /** Name of the model. */
  readonly name: string;
  readonly provider: string;
  /** Type of the provider. */
  readonly type: string;
  /** The provider's own name of the model. */
  readonly upstream: string;
  readonly path: Path;
}

export function declaredRoutes(tree: Tree): DeclaredRoute[] {
  const typeOf = new Map(
    entriesOf(tree, 'providers')
      .filter(isOn)
      .map((entry) => [nameOf(entry['name']), entry['type'] ?? entry['provider_type']]),
  );
  return entriesOf(tree, 'models').flatMap((model, at) => {
    const name = nameOf(model['name']);
    return entriesOf(model, 'routes').flatMap((route, index): DeclaredRoute[] => {
      const provider = nameOf(route['provider']);
      const type = typeOf.get(provider);
      if (typeof type !== 'string' || !isOn(model) || !isOn(route)) return [];
      const given = route['upstream_model'];
      const upstream = typeof given === 'string' ? given : name.slice(name.indexOf('/') + 1);
      const path = ['models', at, 'routes', index];
      return [{ model, route, name, provider, type, upstream, path }];
    });
  });
}

/** Warning of what `gateway validate` finds without a price. */
export function unpricedWarning(
  { file, line, column, path, kind, name }: UnpricedRoute,
  unpriced: 'refuse' | 'allow',
): Diagnostic {
  const effect =
    unpriced === 'refuse'
      ? 'calls under a spending limit do not use it'
      : 'spending limits do not hold for it';
  const message = `unpriced: no price of the ${kind === 'api' ? 'API' : 'route'} ${name} is known; ${effect}`;
  const at = kind === 'api' ? 'API' : 'model or route';
  const hint = `set pricing on the ${at}, or pricing: free`;
  return { file, line, column, path, severity: 'warning', message, hint };
}

export function entriesOf(parent: Tree, section: string): Tree[] {
  const list = parent[section];
  return Array.isArray(list) ? list.map((entry) => (isRecord(entry) ? entry : {})) : [];
}

function nameOf(value: unknown): string {
  return value instanceof ObjectRef ? value.name : String(value).trim();
}

function isOn({ enabled }: Tree): boolean {
  return enabled !== false;
}

function isSaid(pricing: unknown): boolean {
  if (pricing === 'free') return true;
  return isRecord(pricing) && Object.values(pricing).some((price) => price !== null);
}
