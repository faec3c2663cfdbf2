import { changesOf, type Change } from './changes.ts';
import { byFallbacks, digestOf, type DesiredObject, type DesiredState } from './desired.ts';
import { type ActualState, findActual, identityOf, type View } from './actual.ts';
import { CONFIG_KINDS, kindOf, type KindName, type Removal } from './kinds.ts';
import {
  LAST_APPLIED_LABEL,
  labelsOf,
  NAMESPACE_LABEL,
  type Owner,
  OWNER_LABEL,
  ownerName,
  type Ownership,
  ownershipOf,
  PROTECTED_LABEL,
  PRUNE_LABEL,
} from './ownership.ts';

/**
 * `apply` removes nothing, `prune` removes what carries our namespace and is no longer declared,
 * `converge` (start and reload) does so for the models and providers of this file.
 */
type PlanMode = 'apply' | 'prune' | 'converge';

type ActionName = 'create' | 'update' | Removal | 'none';

export interface PlanAction {
  readonly kind: KindName;
  readonly identity: string;
  readonly action: ActionName;
  /** Null for what does not exist yet. */
  readonly id: string | null;
  /** The version that the plan is made for; apply refuses another. */
  readonly version: number | null;
  readonly changes: readonly Change[];
  readonly reason: string;
  readonly ownership: Ownership;
}

/** What an apply would do. Plain JSON without any secret value. */
export interface Plan {
  readonly format: 1;
  readonly namespace: string;
  readonly mode: PlanMode;
  /** Where it may be applied, as the caller names it; null when it was made for no server. */
  readonly target: { readonly server: string; readonly organization: string } | null;
  /** In the order of their execution. */
  readonly actions: readonly PlanAction[];
  /** Objects of another owner that are declared here; they are left alone. */
  readonly conflicts: readonly { kind: KindName; identity: string; id: string; owner: string }[];
  /** Several objects of one declared identity. */
  readonly ambiguous: readonly { kind: KindName; identity: string; ids: string[] }[];
  /** What `--prune` would remove. */
  readonly prunable: readonly { kind: KindName; identity: string; id: string }[];
  /** The number that the user must repeat before these removals, or null. */
  readonly confirmPrune: number | null;
  readonly summary: {
    readonly create: number;
    readonly update: number;
    readonly remove: number;
    readonly none: number;
    /** Changes in all; 0 for a plan that does nothing. */
    readonly total: number;
  };
}

export interface PlanOptions {
  desired: DesiredState;
  actual: ActualState;
  mode: PlanMode;
  target?: Plan['target'];
  /** `kind/identity#field` of secrets to write although nothing readable differs. */
  writeSecrets?: ReadonlySet<string>;
  /** Takes objects without an owner into this namespace. */
  adopt?: boolean;
  /** `file:<name>` in mode `converge`. Default: the namespace. */
  fileOwner?: string;
}

const MAX_UNCONFIRMED_REMOVALS = 10;

/** Compares the declared with the actual state. Pure; reads nothing and changes nothing. */
export function plan(options: PlanOptions): Plan {
  const { desired, actual, mode } = options;
  const owner = ownerFor(options);
  const actions: PlanAction[] = [];
  const conflicts: Plan['conflicts'][number][] = [];
  const ambiguous: Plan['ambiguous'][number][] = [];
  for (const object of desired.objects) {
    const { kind, identity } = object;
    const found = findActual(kind, identity, actual);
    if (found.length > 1) {
      ambiguous.push({ kind, identity, ids: found.map(({ id }) => id) });
    } else if (found[0] === undefined) {
      actions.push(creation(object));
    } else if (mayWrite(kind, ownershipOf(found[0], owner), mode)) {
      actions.push(comparison(object, found[0], { ...options, owner }));
    } else {
      const view = found[0];
      conflicts.push({ kind, identity, id: view.id, owner: ownerName(view) });
    }
  }
  const removals = removalsOf(options, owner);
  const prunable = removals.map(({ kind, identity, id }) => ({ kind, identity, id: id ?? '' }));
  if (mode !== 'apply') actions.push(...removals);
  return {
    format: 1,
    namespace: desired.namespace,
    mode,
    target: options.target ?? null,
    actions,
    conflicts,
    ambiguous,
    prunable,
    confirmPrune: mode === 'prune' ? confirmationFor(removals, actual) : null,
    summary: summaryOf(actions),
  };
}

/** The owner whose objects a plan of this mode may create, change and remove. */
export function ownerFor({ desired, mode, fileOwner }: PlanOptions): Owner {
  return mode === 'converge'
    ? { label: OWNER_LABEL, value: fileOwner ?? `file:${desired.namespace}` }
    : { label: NAMESPACE_LABEL, value: desired.namespace };
}

/** The labels of an object that this owner has just written. */
export function ownedLabels(object: DesiredObject, owner: Owner): Record<string, string> {
  const { lifecycle } = object;
  return {
    ...object.labels,
    [owner.label]: owner.value,
    [LAST_APPLIED_LABEL]: digestOf(object),
    ...(lifecycle.protected === true && { [PROTECTED_LABEL]: 'true' }),
    ...(lifecycle.prune === 'disable' && { [PRUNE_LABEL]: 'disable' }),
  };
}

/**
 * A file read at start may change what it made itself and, because the gateway makes the first one
 * on its own, an organization that nobody owns.
 */
function mayWrite(kind: KindName, ownership: Ownership, mode: PlanMode): boolean {
  if (ownership !== 'none') return ownership === 'own';
  return mode !== 'converge' || kind === 'organization';
}

function creation(object: DesiredObject): PlanAction {
  return {
    kind: object.kind,
    identity: object.identity,
    action: 'create',
    id: null,
    version: null,
    changes: changesOf({ object, view: undefined, secrets: 'all' }),
    reason: 'declared and does not exist',
    ownership: 'own',
  };
}

function comparison(
  object: DesiredObject,
  view: View,
  options: PlanOptions & { owner: Owner },
): PlanAction {
  const { kind, identity } = object;
  const ownership = ownershipOf(view, options.owner);
  const changes = changesOf({
    object,
    view,
    actual: options.actual,
    secrets: options.writeSecrets ?? new Set(),
  });
  const adopted = ownership === 'none' && options.adopt === true;
  if (adopted) {
    const path = `labels[${JSON.stringify(options.owner.label)}]`;
    changes.push({ path, field: 'labels', old: null, new: options.owner.value });
  }
  return {
    kind,
    identity,
    action: changes.length > 0 ? 'update' : 'none',
    id: view.id,
    version: view.version,
    changes,
    reason: reasonFor(object, view, { changes, adopted }),
    ownership: adopted ? 'own' : ownership,
  };
}

function reasonFor(
  object: DesiredObject,
  view: View,
  { changes, adopted }: { changes: readonly Change[]; adopted: boolean },
): string {
  if (changes.length === 0) return 'as declared';
  if (adopted) return 'adopted';
  const applied = labelsOf(view)[LAST_APPLIED_LABEL];
  if (applied === undefined) return 'differs from the declaration';
  return applied === digestOf(object) ? 'changed on the server' : 'changed in the configuration';
}

/** Owned objects that are no longer declared, dependents first. */
function removalsOf({ desired, actual, mode }: PlanOptions, owner: Owner): PlanAction[] {
  const declared = new Set(
    desired.objects.flatMap(({ kind, identity }) => findActual(kind, identity, actual)),
  );
  return CONFIG_KINDS.filter(({ kind }) => desired.managed.has(kind))
    .filter(({ kind }) => mode !== 'converge' || kind === 'model' || kind === 'provider')
    .flatMap(({ kind }) => {
      const gone = actual[kind]
        .filter((view) => ownershipOf(view, owner) === 'own' && !declared.has(view))
        .filter((view) => labelsOf(view)[PROTECTED_LABEL] !== 'true')
        .map((view) => ({ name: identityOf(kind, view, actual), body: view, view }));
      return byFallbacks(gone).map(({ view, name }) => removal(kind, view, name));
    })
    .filter((action): action is PlanAction => action !== undefined)
    .reverse();
}

/** Undefined when the object is switched off already. */
function removal(kind: KindName, view: View, identity: string): PlanAction | undefined {
  const { removedBy, off } = kindOf(kind);
  const keep = off && removedBy === 'delete' && labelsOf(view)[PRUNE_LABEL] === 'disable';
  const action = keep ? 'disable' : removedBy;
  const isSwitch = action === 'disable' || action === 'revoke';
  const changes = Object.entries(isSwitch ? (off ?? {}) : {})
    .filter(([field, value]) => view[field] !== value)
    .map(([field, value]): Change => ({ path: field, field, old: view[field], new: value }));
  if (isSwitch && changes.length === 0) return undefined;
  return {
    kind,
    identity,
    action,
    id: view.id,
    version: view.version,
    changes,
    reason: 'no longer declared',
    ownership: 'own',
  };
}

function confirmationFor(removals: readonly PlanAction[], actual: ActualState): number | null {
  const emptied = CONFIG_KINDS.some(({ kind }) => {
    const count = removals.filter((action) => action.kind === kind).length;
    return count > 0 && count === actual[kind].length;
  });
  return emptied || removals.length > MAX_UNCONFIRMED_REMOVALS ? removals.length : null;
}

function summaryOf(actions: readonly PlanAction[]): Plan['summary'] {
  const count = (...names: ActionName[]) =>
    actions.filter(({ action }) => names.includes(action)).length;
  const none = count('none');
  return {
    create: count('create'),
    update: count('update'),
    remove: count('delete', 'disable', 'revoke', 'archive'),
    none,
    total: actions.length - none,
  };
}
