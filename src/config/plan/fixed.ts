import type { ActualState, View } from '../actual/actual.ts';
import { findDeclared, identityOf } from '../actual/actual.ts';
import { secretName, type SecretFacts } from '../actual/compare-secrets.ts';
import { secretOf } from '../actual/changes.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { SecretRef } from '../objects/references.ts';
import { secretAt } from '../../resources/fields/secret-path.ts';
import { toShellWord } from '../../core/shell-word.ts';

/** An object that the server keeps as it is, whatever is declared. */
export interface Fixed {
  readonly kind: KindName;
  readonly identity: string;
  /** Null for an object that cannot be created. */
  readonly id: string | null;
  /** Fields that differ and cannot change; empty for another reason. */
  readonly fields: readonly string[];
  readonly reason: string;
  /** Next step for the user, one line. */
  readonly hint: string;
  /** Id of the object that has the declared value; absent where that is none, or gone for good. */
  readonly holder?: string;
}

/** An action that a plan does not contain, and why. */
export interface LeftOut {
  readonly kind: KindName;
  readonly identity: string;
  readonly id: string | null;
  readonly reason: string;
}

/** A declared value that no update writes: the stored one stays. */
export interface KeptSecret {
  readonly kind: KindName;
  readonly identity: string;
  readonly id: string;
  readonly field: string;
  /** Short digests of the stored value and of the declared one. */
  readonly stored: string;
  readonly given: string;
  /** Command that takes the declared value. */
  readonly command: string;
}

/** Objects that an apply of the plan leaves as they are although the files say otherwise, with reason and next step. */
export function leftOut({ fixed, waiting = [], kept = [] }: PlanParts): readonly LeftOut[] {
  const stays = fixed.map(({ kind, identity, id, reason, hint }) => ({
    kind,
    identity,
    id,
    reason: `${reason}; ${hint}`,
  }));
  return [...stays, ...waiting, ...kept];
}

/** Members of a plan that hold no action. */
interface PlanParts {
  readonly fixed: readonly Fixed[];
  readonly waiting?: readonly LeftOut[];
  readonly kept?: readonly LeftOut[];
}

interface Known {
  readonly actual: ActualState;
  readonly secrets?: SecretFacts;
}

/** A declared key that was revoked: neither its name nor its value is free again. */
export function revokedKey({ kind, identity, body }: DesiredObject, view: View): Fixed {
  const value = body['value'] === undefined ? '' : ' and another secret value';
  return {
    kind,
    identity,
    id: view.id,
    fields: [],
    reason: `it was revoked at ${String(view['revoked_at'])}, and a revoked key is never used again`,
    hint: `declare a new key with another name${value}, or remove this one from the files`,
  };
}

/** An object whose declaration changes what never changes. */
export function fixedFields(
  { kind, identity }: DesiredObject,
  view: View,
  fields: readonly string[],
): Fixed {
  return {
    kind,
    identity,
    id: view.id,
    fields: [...fields],
    reason: `${fields.join(', ')} of the existing object cannot change`,
    hint: `declare a new object under another name; --prune removes the old one`,
  };
}

/** A new key whose value another key has, or had. */
export function takenValue(
  { kind, identity, body }: DesiredObject,
  { actual, secrets }: Known,
): Fixed | undefined {
  const field = 'value';
  const holder = secrets?.get(secretName(kind, identity, field))?.holder ?? null;
  if (!kindOf(kind).isIssued || holder === null) return undefined;
  const view = actual[kind].find(({ id }) => id === holder);
  const name = view ? identityOf(kind, view, actual) : holder;
  const isRevoked = (view?.['revoked_at'] ?? null) !== null;
  const revoked = isRevoked ? ', which was revoked' : '';
  const ref = secretOf(secretAt(body, field));
  const where = ref instanceof SecretRef ? ` to ${ref.toString()}` : '';
  return {
    kind,
    identity,
    id: null,
    fields: [],
    reason: `its value is used already by ${kind} ${name}${revoked}`,
    hint: isRevoked
      ? `give another value${where}: each key has its own`
      : `give another value${where}, or declare it in moved as a new name of that key`,
    ...(!isRevoked && { holder }),
  };
}

/** Values of declared secrets that differ from the stored ones and that only a command of its own writes. */
export function keptSecrets({
  desired,
  actual,
  secrets,
}: Known & { readonly desired: Pick<DesiredState, 'objects'> }): KeptSecret[] {
  if (secrets === undefined || secrets.size === 0) return [];
  return desired.objects.flatMap((object) => {
    const { kind, identity, body } = object;
    const { definition } = kindOf(kind);
    return kindOf(kind)
      .secrets.filter((field) => definition.immutable.includes(field))
      .flatMap((field): KeptSecret[] => {
        const fact = secrets.get(secretName(kind, identity, field));
        if (fact === undefined || fact.same || fact.stored === null) return [];
        const [view] = findDeclared(object, actual);
        if (view === undefined || (view['revoked_at'] ?? null) !== null) return [];
        const ref = secretOf(secretAt(body, field));
        const from =
          ref instanceof SecretRef ? ` --value-${ref.source} ${toShellWord(ref.name)}` : '';
        const command = `gateway ${definition.collection} rotate ${view.id}${from}`;
        const { stored, given } = fact;
        return [{ kind, identity, id: view.id, field, stored, given, command }];
      });
  });
}
