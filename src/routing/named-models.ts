import type { ByName } from '../core/snapshot-map.ts';
import type { Model } from './catalog.ts';
import type { NameRules, NameStep } from './name-rules.ts';

/** Models that were made for names of the moment; the names are the clients'. */
const MAX_KEPT = 2_000;

export interface NamedModelsOptions {
  readonly declared: ByName<Model>;
  /** Declared names that are switched off: no other rule gives them to clients. */
  readonly off: Pick<ByName<true>, 'has'>;
  readonly rules: NameRules;
  /** Makes the model of an undeclared name; undefined where its provider cannot be used. */
  readonly passThrough: (name: string) => Model | undefined;
  /** Names of models that providers list and that are not declared. */
  readonly listed: () => Iterable<string>;
}

/**
 * Finds models by every name that leads to them; goes through those that are declared. A declared name
 * costs one look-up, any other is resolved once.
 */
export class NamedModels implements ByName<Model> {
  readonly #options: NamedModelsOptions;
  readonly #kept = new Map<string, Model>();
  #shown: readonly Model[] | undefined;

  constructor(options: NamedModelsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.declared.size;
  }

  get(name: string): Model | undefined {
    return this.#options.declared.get(name) ?? this.#resolve(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  keys(): Iterable<string> {
    return this.#options.declared.keys();
  }

  values(): Iterable<Model> {
    return this.#options.declared.values();
  }

  stepsTo(name: string): readonly NameStep[] {
    const { declared, off, rules } = this.#options;
    return rules.stepsTo(name, (one) => declared.has(one) || off.has(one));
  }

  /** Models that clients are shown: the declared, aliases without `*`, and what providers list. */
  get shown(): readonly Model[] {
    return (this.#shown ??= [...this.#toShow()]);
  }

  *withAnyVendor(name: string): Generator<Model> {
    const { declared, rules } = this.#options;
    for (const model of declared.values()) if (model.id === `${model.vendor}/${name}`) yield model;
    for (const provider of rules.openProviders) {
      const full = `${provider}/${name}`;
      const model = declared.has(full) ? undefined : this.get(full);
      if (model?.id === full) yield model;
    }
  }

  *#toShow(): Generator<Model> {
    const { declared, off, rules, listed, passThrough } = this.#options;
    yield* declared.values();
    const seen = new Set<string>();
    for (const { name } of rules.plainAliases) {
      const model = declared.has(name) || off.has(name) ? undefined : this.#resolve(name);
      if (!model) continue;
      seen.add(name);
      yield { ...model, id: name, displayName: name, aliasOf: model.id };
    }
    for (const name of listed()) {
      if (declared.has(name) || off.has(name) || seen.has(name) || rules.aliasOf(name)) continue;
      seen.add(name);
      const model = passThrough(name);
      if (model) yield model;
    }
  }

  #resolve(name: string): Model | undefined {
    const kept = this.#kept.get(name);
    if (kept) return kept;
    const { declared, passThrough } = this.#options;
    const last = this.stepsTo(name).at(-1);
    const model =
      last?.rule === 'model'
        ? declared.get(last.gives)
        : last?.rule === 'provider'
          ? passThrough(last.gives)
          : undefined;
    if (!model) return undefined;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(name, model);
    return model;
  }
}
