import type { Catalog } from '../../routing/catalog.ts';
import { unpricedRoutes } from '../../routing/unpriced-routes.ts';
import { operatorNames } from '../../config/schema/operator-names.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Clock } from '../../core/time/clock.ts';
import { eachDay } from '../../core/time/each-day.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { createKeyHasher, createSealer } from '../../core/seal.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { createChangeFeed } from '../../resources/changes/change-feed.ts';
import { HeldUpdates } from '../../resources/changes/held-updates.ts';
import { createKeyDirectory } from '../../resources/kinds/key-directory.ts';
import type { KeyDirectory } from '../../resources/kinds/key-directory.ts';
import { readKeptPrices } from '../../resources/prices/kept-prices.ts';
import { bindResources } from '../../resources/registry.ts';
import { Repository } from '../../resources/store/repository.ts';
import type { Store } from '../../store/store.ts';
import { createLivePrices } from '../../usage/prices/live-prices.ts';
import { createLiveCatalog } from './live-catalog.ts';
import type { LiveCatalog } from './live-catalog.ts';
import { reasonOf } from '../../core/errors.ts';
import { tellFailure } from './report-store.ts';

export interface ResourcesOptions {
  config: ServerConfig;
  /** True when the operator set `timeouts.first_content`. */
  firstContentSet: boolean;
  masterKeys: readonly Uint8Array[];
  clock: Clock;
  ids: IdSource;
  log: Log;
}

/** Most routes that one line names. */
const UNPRICED_SHOWN = 50;

/** The resources on a store, and what the data plane keeps of them in memory. */
export interface LiveResources {
  readonly repository: Repository;
  readonly hasher: KeyHasher;
  readonly keys: KeyDirectory;
  readonly catalog: LiveCatalog;
  /** Sees every change that was committed before; costs one read when there is none. */
  catchUp(): Promise<void>;
  /**
   * Runs the work, applies its changes for calls in one step, and warns of routes without
   * a price. Rejects as the work does.
   */
  changeAtOnce<T>(change: () => Promise<T>): Promise<T>;
  /** Age of the last known state of changes, in milliseconds. */
  ageMs(): number;
  close(): void;
}

export async function openResources(
  store: Store,
  options: ResourcesOptions,
): Promise<LiveResources> {
  const { config, clock, ids, log, masterKeys } = options;
  const sealer = createSealer(masterKeys);
  const hasher = createKeyHasher(masterKeys);
  const operator = operatorNames(config);
  const { webhooks } = config.notifications;
  const definitions = bindResources({ hasher, clock, operator, webhooks });
  const repository = new Repository({ store, clock, ids, sealer, definitions });
  const keys = createKeyDirectory({ repository, hasher, clock });
  const catalog = openCatalog(repository, options);
  const feed = createChangeFeed({
    store,
    clock,
    onError: (error) => tellFailure(log, 'changes could not be read', { error }),
  });
  feed.subscribe((changes) => keys.update(changes));
  const routes = new HeldUpdates((changes) => catalog.update(changes));
  feed.subscribe(routes.take);
  // Published prices may change with the day, and no row says so.
  const days = eachDay(clock, () => routes.take('everything'));
  const close = (): void => {
    days.cancel();
    feed.close();
  };
  try {
    await feed.catchUp();
  } catch (error) {
    close();
    throw error;
  }
  return {
    repository,
    hasher,
    keys,
    catalog,
    catchUp: () => feed.catchUp(),
    async changeAtOnce(change) {
      const result = await routes.during(async () => {
        const changed = await change();
        await feed.catchUp();
        return changed;
      });
      warnOfUnpriced(catalog.current(), { config, log });
      return result;
    },
    ageMs: () => feed.ageMs(),
    close,
  };
}

function openCatalog(
  repository: Repository,
  { config, firstContentSet, clock, log }: ResourcesOptions,
): LiveCatalog {
  const prices = createLivePrices({
    clock,
    stored: async () => (await readKeptPrices(repository.store))?.vendors,
  });
  return createLiveCatalog({
    repository,
    prices,
    defaults: { timeouts: config.timeouts, firstContentSet },
    onBadProvider: (provider, error) =>
      log.error('provider left out', { provider, reason: reasonOf(error) }),
    onBadApi: (api, error) => log.error('API left out', { api, reason: reasonOf(error) }),
  });
}

/** Names the routes that calls under a spending limit cannot use. */
function warnOfUnpriced(
  catalog: Catalog,
  { config, log }: Pick<ResourcesOptions, 'config' | 'log'>,
): void {
  const routes = unpricedRoutes(catalog);
  if (routes.length === 0) return;
  const effect =
    config.limits.unpriced === 'refuse'
      ? 'calls under a spending limit do not use them'
      : 'spending limits do not hold for them';
  const shown = routes.slice(0, UNPRICED_SHOWN);
  log.warn(`unpriced routes: ${effect}`, { count: routes.length, routes: shown.join(', ') });
}
