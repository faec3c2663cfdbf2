import { suggest } from '../../core/suggest.ts';
import { canMeet, isPattern } from '../../routing/model-patterns.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Places } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';

type Tree = Record<string, unknown>;
type Problem = Pick<Diagnostic, 'message' | 'hint'>;

interface Declared {
  /** Undefined for a section that is absent. */
  readonly models: ReadonlySet<string> | undefined;
  /** Names of models with `*`. */
  readonly starred: readonly string[];
  /** Providers with the patterns of the models that need no declaration; undefined as above. */
  readonly providers: ReadonlyMap<string, readonly string[]> | undefined;
  readonly aliases: ReadonlySet<string>;
}

/**
 * Finds aliases that can lead nowhere: to no declared model and no pattern of a provider, to
 * another alias, or hidden by a model of the same name. The server decides what only it can know: a
 * plain name where the file has not both models and providers, any name where it has neither.
 */
export function checkAliases(tree: Tree, places: Places): Diagnostic[] {
  const declared = readDeclared(tree);
  return entriesOf(tree, 'aliases').flatMap(({ name, model }, index) => {
    if (typeof name !== 'string' || typeof model !== 'string') return [];
    const isHidden = declared.models?.has(name) === true;
    const problem = isHidden ? hidden(name) : faultOf(model, declared);
    if (!problem) return [];
    const path = ['aliases', index, isHidden ? 'name' : 'model'];
    const place = places.find(tree, path);
    return [{ ...place, path: formatPath(path), severity: 'error' as const, ...problem }];
  });
}

/**
 * Makes the check of a name, which returns the problem of one that leads to no model; undefined
 * where it leads to one or only the server can know. An alias counts as a model where `viaAlias`.
 */
export function createModelCheck(
  tree: Tree,
): (name: string, viaAlias: boolean) => Problem | undefined {
  const declared = readDeclared(tree);
  const aliases = [...declared.aliases];
  const isAlias = (name: string): boolean =>
    declared.aliases.has(name) || aliases.some((alias) => canMeet(name, alias));
  return (name, viaAlias) =>
    declared.models?.has(name) || (viaAlias && isAlias(name)) ? undefined : faultOf(name, declared);
}

function hidden(name: string): Problem {
  const message = `the model ${name} stands before an alias of that name`;
  return { message, hint: 'rename or remove one of them' };
}

function faultOf(
  target: string,
  { models, starred, providers, aliases }: Declared,
): Problem | undefined {
  if (models?.has(target)) return undefined;
  const likely = isPattern(target) ? [...(models ?? [])] : starred;
  if (likely.some((name) => canMeet(target, name))) return undefined;
  if (aliases.has(target)) {
    const message = `${target} is an alias, and an alias leads to a model`;
    return { message, hint: 'write what that alias leads to' };
  }
  for (const [provider, patterns] of providers ?? [])
    if (patterns.some((pattern) => canMeet(target, `${provider}/${pattern}`))) return undefined;
  const isJudged = isPattern(target) ? (models ?? providers) : models && providers;
  if (!isJudged) return undefined;
  const message = isPattern(target)
    ? `${target} can match nothing: no model and no provider serves such a name`
    : `no model is named ${target}, and no provider serves it`;
  return { message, hint: hintFor(target, [...(models ?? [])], providers ?? new Map()) };
}

function hintFor(
  target: string,
  models: readonly string[],
  providers: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const [vendor = '', rest] = target.split(/\/(.*)/s);
  const patterns = providers.get(vendor);
  if (patterns?.length === 0)
    return `add models: all to the provider ${vendor}, which serves declared models alone`;
  if (patterns) return `the provider ${vendor} serves ${patterns.join(', ')}`;
  const near = [...providers.keys()].map((name) => `${name}/${rest ?? ''}`);
  return suggest(target, [...models, ...(rest === undefined ? [] : near)]);
}

function readDeclared(tree: Tree): Declared {
  const providers = entriesOf(tree, 'providers').map(
    ({ name, models }) => [String(name).trim(), patternsOf(models)] as const,
  );
  const namesOf = (section: string): string[] =>
    entriesOf(tree, section).map(({ name }) => String(name).trim());
  return {
    starred: namesOf('models').filter(isPattern),
    models: Array.isArray(tree['models']) ? new Set(namesOf('models')) : undefined,
    providers: Array.isArray(tree['providers']) ? new Map(providers) : undefined,
    aliases: new Set(namesOf('aliases')),
  };
}

/** Patterns of the names that a declared provider serves without declarations. */
export function patternsOf(models: unknown): readonly string[] {
  if (models === 'all') return ['*'];
  return Array.isArray(models) ? models.filter((one) => typeof one === 'string') : [];
}

function entriesOf(tree: Tree, section: string): Readonly<Tree>[] {
  const list = tree[section];
  return Array.isArray(list) ? list.map((entry) => (isRecord(entry) ? entry : {})) : [];
}
