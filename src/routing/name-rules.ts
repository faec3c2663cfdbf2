import { captureOf, isPattern, matchesModel } from './model-patterns.ts';

/** Another name of a model; one `*` in it matches text that `*` in `model` repeats. */
export interface AliasRule {
  readonly name: string;
  readonly model: string;
}

/** A provider that serves models without declarations. */
export interface OpenProvider {
  readonly name: string;
  /** Its own names of the models that may be called. */
  readonly patterns: readonly string[];
}

/** One rule on the way from a name to its model. */
export interface NameStep {
  /**
   * `model`: it is declared; `provider`: a pattern of a provider; `vendor`: a bare name of the
   * generate-content protocol, to which a vendor is added.
   */
  readonly rule: 'model' | 'alias' | 'provider' | 'vendor';
  /** Name of the model, the alias or the provider. */
  readonly by: string;
  /** Pattern of the provider that matched. */
  readonly pattern?: string;
  /** Name that the rule gives. */
  readonly gives: string;
}

/** An undeclared model of a provider. */
export interface PassedName {
  readonly provider: string;
  readonly upstream: string;
  /** Pattern of the provider that matched. */
  readonly pattern: string;
}

/** Longest name that a rule is asked for: a provider's, a slash and a model's. */
const MAX_LENGTH = 513;
const UPSTREAM_NAME = /^[^\s\p{Cc}?#%]{1,256}$/u;

/**
 * The rules by which names lead to models, compiled once. The first that matches decides: a declared model, an
 * alias without `*`, the alias with the most text around its `*` (of two, the one with more before it), a
 * pattern of a provider. An alias leads to a model and never to another alias.
 */
export class NameRules {
  readonly #exact: ReadonlyMap<string, AliasRule>;
  readonly #patterns: readonly AliasRule[];
  readonly #providers: ReadonlyMap<string, readonly string[]>;

  constructor(aliases: Iterable<AliasRule>, providers: Iterable<OpenProvider>) {
    const all = [...aliases];
    this.#exact = new Map(
      all.filter(({ name }) => !isPattern(name)).map((rule) => [rule.name, rule]),
    );
    this.#patterns = all.filter(({ name }) => isPattern(name)).toSorted(bySpecificity);
    this.#providers = new Map([...providers].map(({ name, patterns }) => [name, patterns]));
  }

  /** Aliases without `*`. */
  get plainAliases(): Iterable<AliasRule> {
    return this.#exact.values();
  }

  /** Names of providers that serve models without declarations. */
  get openProviders(): Iterable<string> {
    return this.#providers.keys();
  }

  /** The alias that a name means, and the name that it gives. */
  aliasOf(name: string): { alias: string; gives: string } | undefined {
    const exact = this.#exact.get(name);
    if (exact) return { alias: exact.name, gives: exact.model };
    if (name.length > MAX_LENGTH) return undefined;
    for (const { name: alias, model } of this.#patterns) {
      const text = captureOf(alias, name);
      if (text !== undefined) return { alias, gives: model.replace('*', () => text) };
    }
    return undefined;
  }

  /** The provider that serves `provider/model` without a declaration. */
  passedBy(name: string): PassedName | undefined {
    if (name.length > MAX_LENGTH) return undefined;
    for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) {
      const provider = name.slice(0, at);
      const upstream = name.slice(at + 1);
      const patterns = this.#providers.get(provider);
      const pattern = patterns?.find((one) => matchesModel([one], upstream));
      if (pattern !== undefined && UPSTREAM_NAME.test(upstream))
        return { provider, upstream, pattern };
    }
    return undefined;
  }

  /** The rules that a name passes, to a model where the last is no alias; empty where none matches. */
  stepsTo(name: string, isDeclared: (name: string) => boolean): NameStep[] {
    const last = this.#lastStep(name, isDeclared);
    if (last?.rule === 'model') return [last];
    const alias = this.aliasOf(name);
    if (!alias) return last ? [last] : [];
    const end = this.#lastStep(alias.gives, isDeclared);
    const first = { rule: 'alias', by: alias.alias, gives: alias.gives } as const;
    return end ? [first, end] : [first];
  }

  #lastStep(name: string, isDeclared: (name: string) => boolean): NameStep | undefined {
    if (isDeclared(name)) return { rule: 'model', by: name, gives: name };
    const passed = this.passedBy(name);
    if (!passed) return undefined;
    const { provider, pattern } = passed;
    return { rule: 'provider', by: provider, pattern, gives: name };
  }
}

function bySpecificity(a: AliasRule, b: AliasRule): number {
  const byText = b.name.length - a.name.length || b.name.indexOf('*') - a.name.indexOf('*');
  return byText || (a.name < b.name ? -1 : Number(a.name > b.name));
}
