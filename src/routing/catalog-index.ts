import { SnapshotMap } from '../core/snapshot-map.ts';
import type { Api, Catalog, Model } from './catalog.ts';
import { ContentSum } from './content-sum.ts';
import { NamedRows } from './named-rows.ts';
import { toApi, toApiModel, toModel } from './resolve-model.ts';
import type { AccountRecord, ApiRecord, CatalogDefaults, ModelRecord } from './resolve-model.ts';

/** Rows by id as they are now; undefined for one that is gone or cannot be used. */
type Rows<T> = ReadonlyMap<string, T | undefined>;

export interface CatalogChanges {
  providers: Rows<AccountRecord>;
  models: Rows<ModelRecord>;
  apis: Rows<ApiRecord>;
}

/**
 * Makes catalogs of what changed: a change resolves the models that it concerns and no others, and the
 * catalogs of before stay as they were. Requests can name the enabled models, with the enabled routes
 * of enabled providers.
 */
export class CatalogIndex {
  readonly #defaults: CatalogDefaults;
  readonly #providers = new NamedRows<AccountRecord>(({ account }) => account.name);
  readonly #models = new NamedRows<ModelRecord>(({ name }) => name);
  readonly #apis = new NamedRows<ApiRecord>(({ target }) => target.name);
  /** Ids of models by what their routes call a provider: its name or its id. */
  readonly #users = new Map<string, Set<string>>();
  /** Versions change with every update, so ids and versions tell two states apart. */
  readonly #contents = new ContentSum();
  #named = SnapshotMap.empty<Model>();
  #called = SnapshotMap.empty<Api>();
  #catalog: Catalog | undefined;

  constructor(defaults: CatalogDefaults) {
    this.#defaults = defaults;
    this.#contents.add(defaults);
  }

  /** The same object until something changes. */
  get catalog(): Catalog {
    return (this.#catalog ??= {
      fingerprint: this.#contents.toString(),
      models: this.#named,
      apis: this.#called,
    });
  }

  account(idOrName: string): AccountRecord | undefined {
    return this.#providers.byId(idOrName) ?? this.#providers.byName(idOrName);
  }

  /** Takes all of the changes in at once. */
  change({ providers, models, apis }: CatalogChanges): void {
    const apiNames = this.#putApis(apis);
    const modelNames = new Set([...this.#putModels(models), ...apiNames]);
    for (const id of this.#putProviders(providers)) {
      const model = this.#models.byId(id);
      if (model) modelNames.add(model.name);
    }
    this.#named = this.#named.with([...modelNames].map((name) => [name, this.#modelOf(name)]));
    this.#called = this.#called.with([...apiNames].map((name) => [name, this.#apiOf(name)]));
    this.#catalog = undefined;
  }

  /** Gives the ids of the models that route to one of them. */
  #putProviders(providers: CatalogChanges['providers']): Set<string> {
    const users = new Set<string>();
    for (const [id, next] of providers) {
      const before = this.#providers.put(id, next);
      this.#count(id, { before, next });
      for (const called of [id, before?.account.name, next?.account.name]) {
        const found = called === undefined ? undefined : this.#users.get(called);
        for (const user of found ?? []) users.add(user);
      }
    }
    return users;
  }

  /** Gives the names that may mean something else now. */
  #putModels(models: CatalogChanges['models']): Set<string> {
    const names = new Set<string>();
    for (const [id, next] of models) {
      const before = this.#models.put(id, next);
      this.#count(id, { before, next });
      for (const { provider } of before?.routes ?? []) this.#users.get(provider)?.delete(id);
      for (const { provider } of next?.routes ?? []) {
        const users = this.#users.get(provider);
        if (users) users.add(id);
        else this.#users.set(provider, new Set([id]));
      }
      for (const model of [before, next]) if (model) names.add(model.name);
    }
    return names;
  }

  #putApis(apis: CatalogChanges['apis']): Set<string> {
    const names = new Set<string>();
    for (const [id, next] of apis) {
      const before = this.#apis.put(id, next);
      this.#count(id, { before, next });
      for (const api of [before, next]) if (api) names.add(api.target.name);
    }
    return names;
  }

  #count(
    id: string,
    { before, next }: Record<'before' | 'next', { readonly version: number } | undefined>,
  ): void {
    if (before) this.#contents.remove([id, before.version]);
    if (next) this.#contents.add([id, next.version]);
  }

  /** A model of the same name stands before an API. */
  #modelOf(name: string): Model | undefined {
    const model = this.#models.byName(name);
    if (model?.enabled) return toModel(model, (provider) => this.account(provider), this.#defaults);
    const api = this.#apis.byName(name);
    return api?.enabled ? toApiModel(api) : undefined;
  }

  #apiOf(name: string): Api | undefined {
    const api = this.#apis.byName(name);
    return api?.enabled ? toApi(api, this.#defaults) : undefined;
  }
}
