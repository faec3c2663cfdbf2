import { isPriced } from '../usage/usage.ts';
import type { Catalog } from './catalog.ts';

/**
 * `acme/fast (backup)` for each route whose price is unknown, in order of the models' names, and
 * `API weather` for each API.
 */
export function unpricedRoutes({ models, apis }: Pick<Catalog, 'models' | 'apis'>): string[] {
  const routes = [...models.values()].flatMap(({ id, routes: own }) =>
    own
      .filter(({ pricing }) => !isPriced(pricing))
      .map(({ provider }) => `${id} (${provider.name})`),
  );
  const named = [...apis.values()]
    .filter(({ pricing }) => !isPriced(pricing))
    .map(({ name }) => `API ${name}`);
  return [...routes.sort(), ...named.sort()];
}
