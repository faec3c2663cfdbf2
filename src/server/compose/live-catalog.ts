import { CatalogIndex } from '../../routing/catalog-index.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type {
  AccountRecord,
  AliasRecord,
  ApiRecord,
  CatalogDefaults,
  ModelRecord,
} from '../../routing/resolve-model.ts';
import type { CatalogChanges } from '../../routing/catalog-index.ts';
import { isListed } from '../../usage/prices/price-list.ts';
import type { LivePrices } from '../../usage/prices/live-prices.ts';
import { resolveApi } from '../../routing/api.ts';
import type { ApiSettings } from '../../routing/api.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import type { FoundModels } from '../../inference/listing/model-lists.ts';
import { CLIENT_KEY } from '../../providers/read-tls.ts';
import { resolveAccount } from '../../providers/resolve-account.ts';
import type { ProviderSettings } from '../../providers/resolve-account.ts';
import { readChanged } from '../../resources/changes/changed-resources.ts';
import type { ChangedResources } from '../../resources/changes/changed-resources.ts';
import type { Changes } from '../../resources/changes/change-log.ts';
import { toView } from '../../resources/store/define-resource.ts';
import type { Stored } from '../../resources/store/stored.ts';
import { PRICE_LIST_KIND } from '../../resources/store/storage-keys.ts';
import type { Repository } from '../../resources/store/repository.ts';

/** The catalog of the moment, swapped whole when one of its rows changes. */
export interface LiveCatalog {
  current(): Catalog;
  /** The provider with this id or name; undefined when it cannot be used or is not to be. */
  account(idOrName: string): ProviderAccount | undefined;
  /** Accounts whose models are listed, with the version of their declaration; none without a credential. */
  open(): readonly OpenAccount[];
  /** Takes in the models that providers list in place of the former lists. */
  list(found: FoundModels): void;
  /** Runs after each update. */
  onUpdate(listener: () => void): void;
  /** Reads what changed; to be called again only when it is done. */
  update(changes: Changes): Promise<void>;
}

/** A provider that serves models without declarations. */
export interface OpenAccount {
  readonly account: ProviderAccount;
  readonly version: number;
}

export interface LiveCatalogDeps {
  repository: Repository;
  defaults: Omit<CatalogDefaults, 'prices'>;
  prices: LivePrices;
  /** A provider that cannot be used as it is stored; its routes are left out. */
  onBadProvider(name: string, error: unknown): void;
  /** An API that cannot be called as it is stored; it is left out. */
  onBadApi(name: string, error: unknown): void;
}

export function createLiveCatalog(deps: LiveCatalogDeps): LiveCatalog {
  const { repository, prices } = deps;
  const defaults = { ...deps.defaults, prices };
  let index = new CatalogIndex(defaults);
  const listeners: (() => void)[] = [];
  let known: FoundModels = { lists: new Map(), faults: new Map() };

  /** An unchanged provider keeps its account object, and with it connections and mock counters. */
  const toAccount = (stored: Stored): AccountRecord | undefined => {
    const known = index.account(stored.id);
    if (known?.version === stored.version) return known;
    try {
      return toAccountRecord(stored, repository);
    } catch (error) {
      deps.onBadProvider(stored.spec.name, error);
      return undefined;
    }
  };

  return {
    current: () => index.catalog,
    account(idOrName) {
      const record = index.account(idOrName);
      return record?.enabled ? record.account : undefined;
    },
    open: () => listedAccounts(index),
    list(found) {
      const { lists } = known;
      for (const id of lists.keys()) if (!found.lists.has(id)) index.list(id, undefined);
      for (const [id, models] of found.lists) if (lists.get(id) !== models) index.list(id, models);
      index.fail(found.faults);
      known = found;
    },
    onUpdate: (listener) => void listeners.push(listener),
    async update(told) {
      const isNewList = told === 'everything' || told.some(({ kind }) => kind === PRICE_LIST_KIND);
      if (isNewList) prices.forget();
      const changes = isNewList ? 'everything' : told;
      const read = (kind: string) => readChanged(repository, kind, changes);
      const [providers, models, aliases, apis] = [
        await read('provider'),
        await read('model'),
        await read('alias'),
        await read('api'),
      ];
      const next = {
        providers: mapRows(providers, toAccount),
        models: mapRows(models, (stored) => toModelRecord(stored, repository)),
        aliases: mapRows(aliases, (stored) => toAliasRecord(stored, repository)),
        apis: mapRows(apis, (stored) => toApiRecord(stored, deps)),
      };
      if (needsPrices(next, (name) => index.account(name))) await prices.load();
      if (changes === 'everything') {
        const whole = new CatalogIndex(defaults);
        whole.change(next);
        for (const [id, models] of known.lists) whole.list(id, models);
        whole.fail(known.faults);
        index = whole;
      } else index.change(next);
      for (const listener of listeners) listener();
    },
  };
}

/** Those that a list can be asked of: not where only clients have a credential. */
function listedAccounts(index: CatalogIndex): OpenAccount[] {
  const listed = [...index.open()].filter(({ account }) => account.auth.type !== 'client');
  return listed.map(({ account, version }) => ({ account, version }));
}

/** True when a route leads to a vendor whose prices and models are published. */
function needsPrices(
  { providers, models }: Pick<CatalogChanges, 'providers' | 'models'>,
  accountOf: (idOrName: string) => AccountRecord | undefined,
): boolean {
  const listed = new Set<string>();
  for (const [id, next] of providers) {
    if (!next || !isListed(next.account.definition.id)) continue;
    if (next.models) return true;
    listed.add(id).add(next.account.name);
  }
  const isOfList = (provider: string): boolean =>
    listed.has(provider) || isListed(accountOf(provider)?.account.definition.id ?? '');
  for (const model of models.values())
    if (model?.routes.some(({ provider }) => isOfList(provider))) return true;
  return false;
}

function mapRows<T>(
  rows: ChangedResources,
  toRecord: (stored: Stored) => T | undefined,
): Map<string, T | undefined> {
  return new Map([...rows].map(([id, stored]) => [id, stored && toRecord(stored)]));
}

function toAccountRecord(stored: Stored, repository: Repository): AccountRecord {
  const view = toView(repository.definitionOf('provider'), stored);
  const declared = view as unknown as ProviderSettings;
  const tls = declared.tls && { ...declared.tls, key: repository.reveal(stored, CLIENT_KEY) };
  const settings = { ...declared, tls };
  return {
    account: resolveAccount(settings, repository.reveal(stored, 'api_key')),
    enabled: view['enabled'] === true,
    models: toPatterns(view['models']),
    created_at: String(view['created_at']),
    timeouts: view['timeouts'] as AccountRecord['timeouts'],
    version: stored.version,
  };
}

/** Providers that were stored before the field have none. */
function toPatterns(models: unknown): readonly string[] | null {
  if (models === 'all') return ['*'];
  return Array.isArray(models) ? (models as string[]) : null;
}

function toAliasRecord(stored: Stored, repository: Repository): AliasRecord {
  return toView(repository.definitionOf('alias'), stored) as unknown as AliasRecord;
}

function toApiRecord(
  stored: Stored,
  { repository, onBadApi }: LiveCatalogDeps,
): ApiRecord | undefined {
  try {
    const view = toView(repository.definitionOf('api'), stored);
    const secret = repository.reveal(stored, 'api_key');
    const target = resolveApi(view as unknown as ApiSettings, secret);
    return { ...(view as unknown as Omit<ApiRecord, 'target'>), target };
  } catch (error) {
    onBadApi(stored.spec.name, error);
    return undefined;
  }
}

/** A route without an upstream name uses the logical name after the vendor. */
function toModelRecord(stored: Stored, repository: Repository): ModelRecord {
  const record = toView(repository.definitionOf('model'), stored) as unknown as ModelRecord;
  const own = record.name.slice(record.name.indexOf('/') + 1);
  return {
    ...record,
    routes: record.routes.map((route) => ({
      ...route,
      upstream_model: route.upstream_model ?? own,
    })),
  };
}
