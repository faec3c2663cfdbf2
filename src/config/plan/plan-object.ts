import type { ActualState, View } from '../actual/actual.ts';
import { fieldDigest, readAppliedFields } from '../actual/applied-fields.ts';
import { type Change, changesOf, known, viewField } from '../actual/changes.ts';
import { secretName, type SecretFacts } from '../actual/compare-secrets.ts';
import { digestOf, type DesiredObject } from '../objects/desired.ts';
import { kindOf } from '../objects/kinds.ts';
import { withIgnored } from './ignored.ts';
import type { InventoryEntry } from '../actual/inventory.ts';
import { LIFECYCLE, lifecycleChanges } from '../actual/lifecycle.ts';
import {
  APPLIED_FIELDS_LABEL,
  LAST_APPLIED_LABEL,
  labelsOf,
  NAMESPACE_LABEL,
  type Owner,
  ownershipOf,
  PRUNED_LABEL,
} from '../actual/ownership.ts';
import type { Origin, PlanAction, PlannedChange } from './plan-action.ts';
import { isDeclaredPaused, isLeftPaused, mustPause } from './rebind.ts';
import { resetChanges } from './reset.ts';

export interface ObjectPlanning {
  readonly actual: ActualState;
  readonly owner: Owner;
  /** `kind/identity#field` of secrets to write although nothing readable differs. */
  readonly writeSecrets: ReadonlySet<string>;
  /** Answers of the server about declared secrets. */
  readonly secrets?: SecretFacts | undefined;
  /** Takes an object without an owner into the namespace. */
  readonly adopt: boolean;
  /** True when a field that no update can change makes a new object. */
  readonly mayReplace: boolean;
  /** Entry of the object in the inventory of the namespace. */
  readonly entry?: InventoryEntry | undefined;
}

const AROUND = ['pause', 'update', 'unpause'] as const;
/** Actions after which a declaration keeps its object paused. */
const BEFORE = ['pause', 'update'] as const;

/** Reason of a creation that needs none. */
export const CREATED = 'declared and does not exist';

/** The making of an object that does not exist. */
export function planCreation(object: DesiredObject, { wasDeleted = false } = {}): PlanAction {
  return {
    kind: object.kind,
    identity: object.identity,
    action: 'create',
    id: null,
    version: null,
    changes: changesOf({ object, view: undefined, secrets: 'all' }),
    ...(isIssued(object) && { note: 'its value is made at apply and shown once' }),
    reason: wasDeleted ? 'deleted on the server' : CREATED,
    ownership: 'own',
  };
}

/** True for a key whose value the server makes up. */
export function isIssued({ kind, body }: DesiredObject): boolean {
  return kindOf(kind).isIssued && body['value'] === undefined;
}

/** Compares an existing object with its declaration. `formerly`: the name that it has so far. */
export function planComparison(
  declared: DesiredObject,
  view: View,
  { formerly, ...options }: ObjectPlanning & { formerly?: string | undefined },
): PlanAction {
  const { kind, identity } = declared;
  const { actual, owner, writeSecrets: secrets } = options;
  const object = withIgnored(declared, view);
  const ownership = ownershipOf(view, owner);
  const isOurs = ownership === 'own' || (ownership === 'none' && options.adopt);
  const found = [
    ...changesOf({ object, view, actual, secrets }),
    ...(isOurs ? lifecycleChanges(object.lifecycle, labelsOf(view)) : []),
    ...(ownership === 'own' ? lostLabel(view, owner) : []),
    // Objects that are read at start show no plan first.
    ...(ownership === 'own' && owner.label === NAMESPACE_LABEL
      ? resetChanges(declared, view, options.entry)
      : []),
  ];
  const sides = { object: declared, view, actual };
  const changes: PlannedChange[] = found.map((change) =>
    withFingerprints(withOrigin(change, sides), declared, options.secrets),
  );
  const adopted = isOurs && ownership === 'none';
  if (adopted) {
    const path = `labels[${JSON.stringify(owner.label)}]`;
    changes.push({ path, field: 'labels', old: null, new: owner.value });
  }
  const stays = isDeclaredPaused(kind, object);
  const isAsked = stays || changes.some(({ field }) => field === 'paused');
  const resumed = ownership !== 'other' && !isAsked && isLeftPaused(kind, view);
  if (resumed) changes.push({ path: 'status', field: 'status', old: 'paused', new: 'active' });
  const again = ownership === 'own' ? switchedOn(object, view) : [];
  changes.push(...again);
  const forcedBy = options.mayReplace ? forcing(object, view, changes) : [];
  const difference = forcedBy.length > 0 ? 'replace' : 'update';
  return {
    kind,
    identity,
    action: changes.length > 0 ? difference : 'none',
    id: view.id,
    version: view.version,
    changes,
    reason: reasonFor(changes, {
      adopted,
      resumed,
      isAgain: again.length > 0,
      formerly,
      forcedBy,
    }),
    ownership: adopted ? 'own' : ownership,
    ...(mustPause(kind, new Set(changes.map(({ field }) => field)), view) && {
      steps: stays ? BEFORE : AROUND,
    }),
    ...(forcedBy.length > 0 && { forcedBy }),
  };
}

/**
 * Switches on again what prune switched off and is declared once more, unless the files say
 * otherwise.
 */
function switchedOn({ kind, body }: DesiredObject, view: View): Change[] {
  const { off = {}, definition } = kindOf(kind);
  if (labelsOf(view)[PRUNED_LABEL] !== 'true') return [];
  return Object.entries(off)
    .filter(([field, value]) => !(field in body) && view[field] === value)
    .map(([field, old]) => {
      const standard = definition.fields.shape[field]?.safeParse(undefined);
      return { path: field, field, old, new: standard?.data ?? true };
    });
}

/** The changed fields that make a new object, each once. */
function forcing(object: DesiredObject, view: View, changes: readonly Change[]): string[] {
  const { isFixed } = kindOf(object.kind);
  return [...new Set(changes.map(({ field }) => field))].filter((field) => isFixed(field, view));
}

interface Sides {
  readonly object: DesiredObject;
  readonly view: View;
  readonly actual: ActualState;
}

/** The owner label, where another client changed or removed it. */
function lostLabel(view: View, { label, value }: Owner): Change[] {
  const old = labelsOf(view)[label];
  if (old === value) return [];
  return [
    { path: `labels[${JSON.stringify(label)}]`, field: 'labels', old: old ?? null, new: value },
  ];
}

function withOrigin(change: Change, sides: Sides): PlannedChange {
  const origin = originOf(change.field, sides);
  return origin === undefined ? change : { ...change, origin };
}

/** A secret that changes, with the digests by which its values are told apart. */
function withFingerprints(
  change: PlannedChange,
  { kind, identity }: DesiredObject,
  facts: SecretFacts | undefined,
): PlannedChange {
  const fact = change.secret && facts?.get(secretName(kind, identity, change.path));
  if (!fact || fact.same || fact.stored === null) return change;
  // Which of the two sides changed is not known.
  const { origin: _origin, ...rest } = change;
  return { ...rest, fingerprints: [fact.stored, fact.given] };
}

function originOf(field: string, { object, view, actual }: Sides): Origin | undefined {
  const labels = labelsOf(view);
  if (field !== 'labels' && field !== LIFECYCLE && !(field in object.body)) return 'configuration';
  const applied = readAppliedFields(labels[APPLIED_FIELDS_LABEL]).get(field);
  if (applied === undefined) {
    const whole = labels[LAST_APPLIED_LABEL];
    if (whole === undefined) return undefined;
    return whole === digestOf(object) ? 'server' : 'configuration';
  }
  const declared = known(object.body[field], actual, object);
  const isServerSame = applied === fieldDigest(object, field, view[viewField(object.kind, field)]);
  const isFileSame = applied === fieldDigest(object, field, declared);
  if (isServerSame) return 'configuration';
  return isFileSame ? 'server' : 'both';
}

function reasonFor(
  changes: readonly PlannedChange[],
  {
    adopted,
    resumed,
    isAgain,
    formerly,
    forcedBy,
  }: {
    adopted: boolean;
    resumed: boolean;
    isAgain: boolean;
    formerly: string | undefined;
    forcedBy: readonly string[];
  },
): string {
  if (changes.length === 0) return 'as declared';
  const isRewrite = ({ secret, old, new: next }: PlannedChange) =>
    secret === true && old === 'configured' && next !== null;
  if (changes.every(isRewrite))
    return changes.some(({ fingerprints }) => fingerprints)
      ? 'its secret has another value'
      : 'its secret is written again, as asked for';
  if (forcedBy.length > 0) return `${forcedBy.join(', ')} cannot be changed: it gets a new id`;
  if (formerly !== undefined) return `renamed from ${formerly}`;
  if (adopted) return 'adopted';
  if (isAgain) return 'declared again';
  if (resumed) return 'an apply that paused it was not completed';
  const origins = new Set(changes.flatMap(({ origin }) => origin ?? []));
  if (origins.size === 0) return 'differs from the declaration';
  if (origins.size > 1 || origins.has('both'))
    return 'changed in the configuration and on the server';
  return origins.has('server') ? 'changed on the server' : 'changed in the configuration';
}
