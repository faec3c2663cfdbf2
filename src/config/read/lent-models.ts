import { fallbacksOf } from '../objects/desired.ts';
import { isRecord } from '../objects/record.ts';
import { ObjectRef } from '../objects/references.ts';
import { entriesOf, type Problem, type Report, type Tree } from './declared-names.ts';

type Entry = Readonly<Tree>;

/**
 * Makes the check of a model that an Agent names, which returns the problem of one that only providers with
 * `auth: client` serve: an Agent has no client with a credential. What only the server knows passes.
 */
export function createLentCheck(tree: Tree): (name: string) => Problem | undefined {
  const lent = lentProviders(tree);
  if (lent.size === 0) return () => undefined;
  const [models, aliases] = [byName(tree, 'models'), byName(tree, 'aliases')];
  const providersOf = (name: string, seen = new Set<string>()): string[] => {
    if (seen.has(name)) return [];
    seen.add(name);
    const model = models.get(name);
    const alias = aliases.get(name);
    if (alias && !model) return providersOf(nameOf(alias['model']), seen);
    // Without a declaration the name begins with the provider.
    if (!model) return [name.split('/', 1)[0] ?? ''];
    const others = fallbacksOf(model).flatMap((next) => providersOf(next.trim(), seen));
    return [...routesOf(model).map(([, provider]) => provider), ...others];
  };
  return (name) => {
    const providers = [...new Set(providersOf(name))];
    if (providers.length === 0 || providers.some((one) => !lent.has(one))) return undefined;
    return {
      message: `${name} is served with a credential of the client alone (${providers.join(', ')}), and an Agent has none`,
      hint: 'give the model a route to a provider with an api_key, or a fallback',
    };
  };
}

/** Warns of models with routes to several providers that take the client's credential: one gets it. */
export function checkLentRoutes(tree: Tree, report: Report): void {
  const lent = lentProviders(tree);
  for (const [index, model] of lent.size < 2 ? [] : entriesOf(tree, 'models')) {
    const routes = routesOf(model).filter(([, provider]) => lent.has(provider));
    const second = routes.find(([, provider]) => provider !== routes[0]?.[1]);
    if (!second) continue;
    const message = `${second[1]} is a second provider with auth: client, and one of them gets the credential of a client`;
    const hint = 'give each of them a model of its own';
    report(['models', index, 'routes', second[0], 'provider'], { message, hint }, 'warning');
  }
}

function lentProviders(tree: Tree): ReadonlySet<string> {
  const lent = entriesOf(tree, 'providers').filter(
    ([, { auth }]) => isRecord(auth) && auth['type'] === 'client',
  );
  return new Set(lent.map(([, { name }]) => nameOf(name)));
}

function byName(tree: Tree, collection: string): ReadonlyMap<string, Entry> {
  return new Map(entriesOf(tree, collection).map(([, entry]) => [nameOf(entry['name']), entry]));
}

function routesOf(model: Entry): [index: number, provider: string][] {
  return entriesOf(model, 'routes').map(([index, { provider }]) => [index, nameOf(provider)]);
}

function nameOf(value: unknown): string {
  return String(value instanceof ObjectRef ? value.name : value).trim();
}
