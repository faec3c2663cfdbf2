import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';
import { signalOf } from '../../resources/fields/secret-path.ts';
import { type ActualState, identityOf, isAlive, type View } from './actual.ts';

/** Names the environment variable that should hold a secret: its value is nowhere to be read. */
export type SecretNames = (secret: Secret) => string;

export interface Secret {
  readonly kind: KindName;
  readonly view: View;
  readonly field: string;
}

/**
 * Gives each secret that there is a variable of its own: by the name of its object where that is enough,
 * else by its organization too, else with a number, of which the oldest object needs none.
 */
export function nameSecrets(actual: ActualState): SecretNames {
  const secrets = CONFIG_KINDS.flatMap(({ kind, secrets: fields }) =>
    actual[kind]
      .filter(isAlive)
      .flatMap((view): Secret[] =>
        fields
          .filter((field) => view[signalOf(field)] === true)
          .map((field) => ({ kind, view, field })),
      ),
  ).sort(byId);
  const counts = new Map<string, number>();
  for (const secret of secrets)
    counts.set(plainName(secret), (counts.get(plainName(secret)) ?? 0) + 1);
  const taken = new Set([...counts].filter(([, count]) => count === 1).map(([name]) => name));
  const names = new Map<string, string>();
  for (const secret of secrets) {
    const isPlain = counts.get(plainName(secret)) === 1;
    const name = isPlain ? plainName(secret) : free(longName(secret, actual), taken);
    taken.add(name);
    names.set(keyOf(secret), name);
  }
  return (secret) => names.get(keyOf(secret)) ?? plainName(secret);
}

function plainName({ kind, view, field }: Secret): string {
  return toVariable(`${kind}_${String(view['name'])}_${field}`);
}

function longName({ kind, view, field }: Secret, actual: ActualState): string {
  return toVariable(`${kind}_${identityOf(kind, view, actual)}_${field}`);
}

function toVariable(words: string): string {
  const name = words.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

function free(name: string, taken: ReadonlySet<string>): string {
  let one = name;
  for (let number = 2; taken.has(one); number++) one = `${name}_${number}`;
  return one;
}

function keyOf({ view, field }: Pick<Secret, 'view' | 'field'>): string {
  return `${view.id} ${field}`;
}

/** Ids begin with the time of the creation. */
function byId({ view: one }: Secret, { view: other }: Secret): number {
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}
