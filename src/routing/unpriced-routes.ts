import { isPriced } from '../usage/usage.ts';
import type { Catalog } from './catalog.ts';

/** `acme/fast (backup)` for each route whose price is unknown, in order of the models' names. */
export function unpricedRoutes({ models }: Pick<Catalog, 'models'>): string[] {
  return [...models.values()]
    .flatMap(({ id, routes }) =>
      routes
        .filter(({ pricing }) => !isPriced(pricing))
        .map(({ provider }) => `${id} (${provider.name})`),
    )
    .sort();
}
