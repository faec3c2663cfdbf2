import { buildCatalog } from '../routing/build-catalog.ts';
import type {
  AccountRecord,
  ApiRecord,
  CatalogInput,
  ModelRecord,
} from '../routing/build-catalog.ts';
import { resolveApi } from '../routing/api.ts';
import type { ApiSettings } from '../routing/api.ts';
import type { Catalog } from '../routing/catalog.ts';
import type { ProviderAccount } from '../providers/account.ts';
import { resolveAccount } from '../providers/resolve-account.ts';
import type { ProviderSettings } from '../providers/resolve-account.ts';
import { toView } from '../resources/define-resource.ts';
import type { Stored } from '../resources/define-resource.ts';
import type { Repository } from '../resources/repository.ts';

/** The catalog of the moment, built anew from the resources and swapped whole. */
export interface LiveCatalog {
  current(): Catalog;
  /** The provider with this id or name; undefined when it cannot be used or is not to be. */
  account(idOrName: string): ProviderAccount | undefined;
  reload(): Promise<void>;
}

export interface LiveCatalogDeps {
  repository: Repository;
  defaults: CatalogInput['defaults'];
  firstContentSet: boolean;
  /** A provider that cannot be used as it is stored; its routes are left out. */
  onBadProvider(name: string, error: unknown): void;
  /** An API that cannot be called as it is stored; it is left out. */
  onBadApi(name: string, error: unknown): void;
}

interface Resolved {
  version: number;
  record: AccountRecord;
}

const EVERYTHING = { organization: null, limit: Infinity, matches: () => true };

export function createLiveCatalog(deps: LiveCatalogDeps): LiveCatalog {
  const { repository, defaults, firstContentSet } = deps;
  let catalog: Catalog = { fingerprint: '', models: new Map(), apis: new Map() };
  /** An unchanged provider keeps its account object, and with it connections and mock counters. */
  let resolved = new Map<string, Resolved>();
  let known: ReadonlyMap<string, AccountRecord> = new Map();
  let begun = 0;
  let shown = 0;

  const resolve = (stored: Stored): Resolved | undefined => {
    const known = resolved.get(stored.id);
    if (known?.version === stored.version) return known;
    try {
      return { version: stored.version, record: toAccountRecord(stored, repository) };
    } catch (error) {
      deps.onBadProvider(stored.spec.name, error);
      return undefined;
    }
  };

  return {
    current: () => catalog,
    account(idOrName) {
      const record = known.get(idOrName);
      return record?.enabled ? record.account : undefined;
    },
    async reload() {
      const turn = ++begun;
      const providers = await repository.list(repository.definitionOf('provider'), EVERYTHING);
      const models = await repository.list(repository.definitionOf('model'), EVERYTHING);
      const apis = await repository.list(repository.definitionOf('api'), EVERYTHING);
      // One that began later has read later, and may have been done first.
      if (turn < shown) return;
      shown = turn;
      const next = new Map<string, Resolved>();
      const accounts = new Map<string, AccountRecord>();
      for (const stored of providers) {
        const account = resolve(stored);
        if (!account) continue;
        next.set(stored.id, account);
        accounts.set(stored.spec.name, account.record);
        accounts.set(stored.id, account.record);
      }
      resolved = next;
      known = accounts;
      const records = models.map((stored) => toModelRecord(stored, repository));
      catalog = buildCatalog({
        models: records,
        accounts,
        apis: apis.flatMap((stored) => toApiRecord(stored, deps) ?? []),
        defaults,
        firstContentSet,
      });
    },
  };
}

function toAccountRecord(stored: Stored, repository: Repository): AccountRecord {
  const view = toView(repository.definitionOf('provider'), stored);
  const settings = view as unknown as ProviderSettings;
  return {
    account: resolveAccount(settings, repository.reveal(stored, 'api_key')),
    enabled: view['enabled'] === true,
    timeouts: view['timeouts'] as AccountRecord['timeouts'],
    version: stored.version,
  };
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

/** A route without an upstream name uses what follows the vendor in the logical one. */
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
