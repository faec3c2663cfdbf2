import type { ServerConfig } from '../../../config/schema/server-config.ts';
import type { Catalog } from '../../../routing/catalog.ts';
import { findSmallLimit, reservationsOf, SMALL_LIMIT_HINT } from '../../../routing/small-limits.ts';
import type { Limiting, Reservation } from '../../../routing/small-limits.ts';

export interface LimitWarningsDeps {
  catalog(): Catalog;
  readonly config: { readonly limits: Pick<ServerConfig['limits'], 'outputTokensBound'> };
}

/**
 * Judges objects that were made or changed by what one call of a model reserves now. The reservations of a
 * catalog are found once.
 */
export function createLimitWarnings({
  catalog,
  config,
}: LimitWarningsDeps): (collection: string, object: unknown) => string[] {
  const known = new WeakMap<Catalog, Reservation[]>();
  const reservations = (): Reservation[] => {
    const now = catalog();
    const found =
      known.get(now) ?? reservationsOf(now.models.values(), config.limits.outputTokensBound);
    known.set(now, found);
    return found;
  };
  return (collection, object) => {
    if (typeof object !== 'object' || object === null || Buffer.isBuffer(object)) return [];
    const found = findSmallLimit(collection, object as Limiting, reservations);
    return found ? [`${found.path}: ${found.text}; ${SMALL_LIMIT_HINT}`] : [];
  };
}
