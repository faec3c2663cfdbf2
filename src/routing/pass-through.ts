import type { ListedModel } from '../providers/listing/listed-model.ts';
import { matchesModel } from './model-patterns.ts';
import type { NameRules } from './name-rules.ts';
import type { NamedModelsOptions } from './named-models.ts';
import { toPassedThrough } from './resolve-model.ts';
import type { AccountRecord, CatalogDefaults } from './resolve-model.ts';

export interface PassThroughOptions {
  readonly open: readonly (AccountRecord & { models: readonly string[] })[];
  /** Listed models of the providers, by their ids and by name. */
  readonly lists: ReadonlyMap<string, ReadonlyMap<string, ListedModel>>;
  readonly rules: NameRules;
  readonly defaults: CatalogDefaults;
}

/** Models of providers that serve them without declarations, with and without a list of them. */
export function createPassThrough({
  open,
  lists,
  rules,
  defaults,
}: PassThroughOptions): Pick<NamedModelsOptions, 'passThrough' | 'listed'> {
  const byName = new Map(open.map((record) => [record.account.name, record]));
  return {
    passThrough(name) {
      const passed = rules.passedBy(name);
      const record = passed && byName.get(passed.provider);
      if (!record) return undefined;
      const { upstream } = passed;
      const listed = lists.get(record.account.id)?.get(upstream);
      return toPassedThrough(record, listed ?? { name: upstream }, defaults);
    },
    *listed() {
      for (const { account, models } of open) {
        for (const name of lists.get(account.id)?.keys() ?? [])
          if (matchesModel(models, name)) yield `${account.name}/${name}`;
      }
    },
  };
}
