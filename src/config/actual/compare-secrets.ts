import { fieldOf, secretAt } from '../../resources/fields/secret-path.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { SecretRef } from '../objects/references.ts';
import { type ActualState, createFinder, findDeclared } from './actual.ts';
import { secretOf } from './changes.ts';
import { type Owner, ownershipOf } from './ownership.ts';
import type { AskedSecret, ComparedSecret, ResourceClient } from './resource-client.ts';

/** Answers of the server about declared secrets, by `kind/identity#field`. */
export type SecretFacts = ReadonlyMap<string, ComparedSecret>;

/** Declared secrets of which nothing is known but that they are there. */
export interface Uncompared {
  /** `refused`: the server does not compare for this key, or not at all. */
  readonly why: 'no value' | 'refused';
  /** As they are written, each once. */
  readonly secrets: readonly string[];
}

export interface ComparedSecrets {
  readonly facts: SecretFacts;
  readonly uncompared: Uncompared | undefined;
}

export interface CompareSecretsOptions {
  readonly desired: Pick<DesiredState, 'objects' | 'moved'>;
  readonly actual: ActualState;
  readonly owner: Owner;
  /** Values that can be read here. */
  readonly secrets: ReadonlyMap<SecretRef, string>;
  readonly client: Pick<ResourceClient, 'compareSecrets'>;
}

/** Name of a declared secret, as `--write-secret` takes it. */
export function secretName(kind: KindName, identity: string, field: string): string {
  return `${kind}/${identity}#${field}`;
}

/**
 * Has the server compare the values of objects that this owner may write, and those of new keys: a
 * value belongs to one key.
 */
export async function compareSecrets(options: CompareSecretsOptions): Promise<ComparedSecrets> {
  const { desired, actual, owner, secrets, client } = options;
  const find = createFinder();
  const unread = new Set<string>();
  const asked: { name: string; written: string; secret: AskedSecret }[] = [];
  for (const object of desired.objects) {
    const { kind, identity, body } = object;
    for (const field of kindOf(kind).secrets) {
      const ref = secretOf(secretAt(body, field));
      if (!(ref instanceof SecretRef)) continue;
      if (isIgnored(object, field)) continue;
      const former = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
      const [view] = [
        ...findDeclared(object, actual, find),
        ...(former === undefined ? [] : find(kind, former, actual)),
      ];
      const isNewKey = view === undefined && kindOf(kind).isIssued;
      if (!isNewKey && (view === undefined || ownershipOf(view, owner) === 'other')) continue;
      const value = secrets.get(ref);
      if (value === undefined) unread.add(ref.toString());
      else {
        const secret = { kind, id: view?.id ?? null, field, value };
        const name = secretName(kind, identity, field);
        asked.push({ name, written: ref.toString(), secret });
      }
    }
  }
  const answers =
    asked.length > 0 ? await client.compareSecrets?.(asked.map(({ secret }) => secret)) : [];
  const facts = new Map(
    (answers ?? []).flatMap((answer, index) => {
      const name = asked[index]?.name;
      return name === undefined ? [] : [[name, answer] as const];
    }),
  );
  if (answers === undefined) {
    const written = new Set(asked.map((one) => one.written));
    return { facts, uncompared: { why: 'refused', secrets: [...written] } };
  }
  const left = { why: 'no value' as const, secrets: [...unread] };
  return { facts, uncompared: unread.size > 0 ? left : undefined };
}

function isIgnored({ lifecycle: { ignore_changes: paths = [] } }: DesiredObject, field: string) {
  return paths.some((path) => path === field || path === fieldOf(field));
}

/** Names of secrets that an update writes, since their values differ. */
export function changedSecrets(facts: SecretFacts, { objects }: Pick<DesiredState, 'objects'>) {
  return objects.flatMap(({ kind, identity }) =>
    kindOf(kind)
      .secrets.filter((field) => !kindOf(kind).definition.immutable.includes(field))
      .map((field) => secretName(kind, identity, field))
      .filter((name) => {
        const fact = facts.get(name);
        return fact !== undefined && !fact.same && fact.stored !== null;
      }),
  );
}
