import { createHash } from 'node:crypto';
import { SnapshotMap } from '../core/snapshot-map.ts';
import type { ListedModel } from '../providers/listing/listed-model.ts';
import type { Api, Catalog, Model } from './catalog.ts';
import { NameRules } from './name-rules.ts';
import { NamedModels } from './named-models.ts';
import { NamedRows } from './named-rows.ts';
import { createPassThrough } from './pass-through.ts';
import { toApi, toApiModel, toModel } from './resolve-model.ts';
import type {
  AccountRecord,
  AliasRecord,
  ApiRecord,
  CatalogDefaults,
  ModelRecord,
} from './resolve-model.ts';

/** Fingerprint of a set that follows each change without reading the others; order says nothing. */
class ContentSum {
  #sum = 0n;

  add(item: unknown): void {
    this.#sum = BigInt.asUintN(64, this.#sum + hashOf(item));
  }

  /** Removes added entries. */
  remove(item: unknown): void {
    this.#sum = BigInt.asUintN(64, this.#sum - hashOf(item));
  }

  toString(): string {
    return this.#sum.toString(16).padStart(16, '0');
  }
}

function hashOf(item: unknown): bigint {
  return createHash('sha256').update(JSON.stringify(item)).digest().readBigUInt64BE();
}

/** Rows by id as they are now; undefined for one that is gone or cannot be used. */
type Rows<T> = ReadonlyMap<string, T | undefined>;

export interface CatalogChanges {
  providers: Rows<AccountRecord>;
  models: Rows<ModelRecord>;
  aliases: Rows<AliasRecord>;
  apis: Rows<ApiRecord>;
}

/**
 * Makes catalogs of what changed: a change resolves the models that it concerns and no others, and the
 * catalogs of before stay as they were. Requests can name the enabled models, with the enabled routes
 * of enabled providers, and what aliases and the patterns of providers lead to.
 */
export class CatalogIndex {
  readonly #defaults: CatalogDefaults;
  readonly #providers = new NamedRows<AccountRecord>(({ account }) => account.name);
  readonly #models = new NamedRows<ModelRecord>(({ name }) => name);
  readonly #aliases = new NamedRows<AliasRecord>(({ name }) => name);
  readonly #apis = new NamedRows<ApiRecord>(({ target }) => target.name);
  /** Ids of models by what their routes call a provider: its name or its id. */
  readonly #users = new Map<string, Set<string>>();
  /** Versions change with every update, so ids and versions tell two states apart. */
  readonly #contents = new ContentSum();
  /** Listed models of the providers, by their ids and by name. */
  readonly #lists = new Map<string, ReadonlyMap<string, ListedModel>>();
  /** Why lists of providers failed, by their ids. */
  #faults: ReadonlyMap<string, string> = new Map();
  #named = SnapshotMap.empty<Model>();
  /** Declared names that are switched off. */
  #off = SnapshotMap.empty<true>();
  #called = SnapshotMap.empty<Api>();
  #rules: NameRules | undefined;
  #catalog: Catalog | undefined;

  constructor(defaults: CatalogDefaults) {
    this.#defaults = defaults;
    this.#contents.add(defaults);
  }

  /** The same object until something changes. */
  get catalog(): Catalog {
    return (this.#catalog ??= this.#toCatalog());
  }

  account(idOrName: string): AccountRecord | undefined {
    return this.#providers.byId(idOrName) ?? this.#providers.byName(idOrName);
  }

  /** Providers that serve models without declarations. */
  *open(): Generator<AccountRecord & { models: readonly string[] }> {
    for (const record of this.#providers.values()) {
      const { enabled, models } = record;
      if (enabled && models) yield { ...record, models };
    }
  }

  /** Takes all of the changes in at once. */
  change({ providers, models, aliases, apis }: CatalogChanges): void {
    const apiNames = this.#putApis(apis);
    const modelNames = new Set([...this.#putModels(models), ...apiNames]);
    for (const id of this.#putProviders(providers)) {
      const model = this.#models.byId(id);
      if (model) modelNames.add(model.name);
    }
    const names = [...modelNames];
    this.#named = this.#named.with(names.map((name) => [name, this.#modelOf(name)]));
    this.#off = this.#off.with(names.map((name) => [name, this.#isOff(name)]));
    this.#called = this.#called.with([...apiNames].map((name) => [name, this.#apiOf(name)]));
    this.#putAliases(aliases);
    if (providers.size > 0 || aliases.size > 0) this.#rules = undefined;
    this.#catalog = undefined;
  }

  /** Takes in what a provider lists; undefined forgets it. */
  list(provider: string, models: readonly ListedModel[] | undefined): void {
    if (models) this.#lists.set(provider, new Map(models.map((one) => [one.name, one])));
    else this.#lists.delete(provider);
    this.#catalog = undefined;
  }

  /** Takes in why lists of providers failed, in place of the former reasons. */
  fail(faults: ReadonlyMap<string, string>): void {
    this.#faults = faults;
    this.#catalog = undefined;
  }

  #toCatalog(): Catalog {
    const open = [...this.open()];
    this.#rules ??= new NameRules(
      [...this.#aliases.values()].filter(({ enabled }) => enabled),
      open.map(({ account, models }) => ({ name: account.name, patterns: models })),
    );
    const rules = this.#rules;
    const models = new NamedModels({
      declared: this.#named,
      off: this.#off,
      rules,
      ...createPassThrough({ open, lists: new Map(this.#lists), rules, defaults: this.#defaults }),
    });
    return {
      fingerprint: this.#contents.toString(),
      models,
      apis: this.#called,
      accounts: [...this.#providers.values()]
        .filter(({ enabled }) => enabled)
        .map(({ account }) => account),
      open: open.map(({ account, models: patterns }) => ({
        provider: account.name,
        patterns,
        listed: this.#lists.get(account.id)?.size ?? 0,
        problem: this.#faults.get(account.id) ?? null,
      })),
      shown: () => models.shown,
      withAnyVendor: (name) => models.withAnyVendor(name),
      stepsTo: (name) => models.stepsTo(name),
    };
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

  #putAliases(aliases: CatalogChanges['aliases']): void {
    for (const [id, next] of aliases) {
      const before = this.#aliases.put(id, next);
      this.#count(id, { before, next });
    }
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

  /** A model takes precedence over an API of the same name. */
  #modelOf(name: string): Model | undefined {
    const model = this.#models.byName(name);
    if (model?.enabled) return toModel(model, (provider) => this.account(provider), this.#defaults);
    const api = this.#apis.byName(name);
    return api?.enabled ? toApiModel(api) : undefined;
  }

  #isOff(name: string): true | undefined {
    const isDeclared = this.#models.byName(name) ?? this.#apis.byName(name);
    return isDeclared && !this.#named.has(name) ? true : undefined;
  }

  #apiOf(name: string): Api | undefined {
    const api = this.#apis.byName(name);
    return api?.enabled ? toApi(api, this.#defaults) : undefined;
  }
}
