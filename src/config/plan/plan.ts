import {
  type ActualState,
  createFinder,
  type findActual,
  findDeclared,
  type View,
} from '../actual/actual.ts';
import { toAppliedFields } from '../actual/applied-fields.ts';
import { basisOf } from '../actual/basis.ts';
import { type DesiredObject, type DesiredState, digestOf } from '../objects/desired.ts';
import {
  declaredBefore,
  type Inventory,
  type InventoryEntry,
  withInventories,
} from '../actual/inventory.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { LIFECYCLE, lifecycleLabels } from '../actual/lifecycle.ts';
import {
  APPLIED_FIELDS_LABEL,
  LAST_APPLIED_LABEL,
  NAMESPACE_LABEL,
  type Owner,
  OWNER_LABEL,
  ownerName,
  type Ownership,
  ownershipOf,
} from '../actual/ownership.ts';
import type { SecretFacts, Uncompared } from '../actual/compare-secrets.ts';
import { dependenciesOf, objectKey } from '../objects/object-refs.ts';
import {
  type Fixed,
  fixedFields,
  type KeptSecret,
  keptSecrets,
  type LeftOut,
  revokedKey,
  takenValue,
} from './fixed.ts';
import { keepUsed } from './keep-used.ts';
import { offerRenames, type Rename } from './offer-renames.ts';
import type { ActionName, PlanAction, PlanMode } from './plan-action.ts';
import { planComparison, planCreation } from './plan-object.ts';
import { type Confirmation, confirmationFor, planRemovals } from './plan-removals.ts';

/** Work of an apply, as plain JSON without any secret value. */
export interface Plan extends Confirmation {
  readonly format: 1;
  readonly namespace: string;
  readonly mode: PlanMode;
  /**
   * Gateway to which it may be applied, as the caller names it; null when it was made for no
   * server.
   */
  readonly target: { readonly server: string; readonly organization: string } | null;
  /** Actions in the order of their execution. */
  readonly actions: readonly PlanAction[];
  /** Objects of another owner that are declared here; they are not changed. */
  readonly conflicts: readonly { kind: KindName; identity: string; id: string; owner: string }[];
  /** Declared objects that no write makes as declared: each stays as it is, the others do not. */
  readonly fixed: readonly Fixed[];
  /** Changes that wait for a `fixed` object or another waiting one. Absent: there are none. */
  readonly waiting?: readonly LeftOut[];
  /** Removals that are left out while something names the object. Absent: there are none. */
  readonly kept?: readonly LeftOut[];
  /** New and removed objects that may be one under another name. Absent: there are none. */
  readonly renames?: readonly Rename[];
  /** Values of secrets that differ from the declared ones and that no update takes. Absent as above. */
  readonly secrets?: readonly KeptSecret[];
  /** Secrets that were not compared with those of the server. Absent as above. */
  readonly uncompared?: Uncompared;
  /** Several objects of one declared identity, or of both names of one that moved. */
  readonly ambiguous: readonly { kind: KindName; identity: string; ids: string[] }[];
  /** Objects that are pinned by an id that nothing has. */
  readonly lost: readonly { kind: KindName; identity: string; id: string }[];
  /** Own objects whose earlier declaration is not known; none of their fields is reset. */
  readonly unknown: readonly { kind: KindName; identity: string }[];
  /** Objects that `--prune` would remove. */
  readonly prunable: readonly { kind: KindName; identity: string; id: string }[];
  readonly summary: {
    readonly create: number;
    readonly update: number;
    readonly replace: number;
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
  /** Answers of the server about declared secrets. Default: none is compared. */
  secrets?: SecretFacts;
  /** Secrets that were not compared. Default: all were. */
  uncompared?: Uncompared | undefined;
  /** Takes objects without an owner into this namespace. */
  adopt?: boolean;
  /** The only objects that may be removed. Default: all that are not declared. */
  removable?: ReadonlySet<View>;
  /** Inventories of all namespaces. Default: none are kept. */
  inventories?: readonly Inventory[];
  /** `file:<name>` in mode `converge`. Default: the namespace. */
  fileOwner?: string;
}

const UNCONFIRMED: Confirmation = { confirmPrune: null, irreversible: [] };

/** Compares the declared with the actual state. Pure; reads nothing and changes nothing. */
export function plan(options: PlanOptions): Plan {
  const { desired, actual, mode } = options;
  const owner = ownerFor(options);
  const find = createFinder();
  const inventory = inventoryOf(options);
  let planned = actual;
  const stuck = new Set<string>();
  const outcomes = desired.objects.map((object) => {
    const state = { ...options, actual: planned, owner, find, inventory };
    const outcome = waitingFor(stuck, object, planObject(object, state));
    if (outcome.fixed ?? outcome.waiting) stuck.add(objectKey(object.kind, object.identity));
    if (outcome.action) planned = withPlannedVersion(planned, outcome.action);
    return outcome;
  });
  const actions = outcomes.flatMap(({ action }) => action ?? []);
  const renamed = new Set(outcomes.flatMap(({ former }) => former ?? []));
  const { removable } = options;
  const gone = planRemovals({ desired, actual, mode, owner, renamed, removable });
  const prunable = gone.map(({ kind, identity, id }) => ({ kind, identity, id: id ?? '' }));
  const fixed = outcomes.flatMap((outcome) => outcome.fixed ?? []);
  const { removals, kept } =
    mode === 'prune'
      ? withoutHolders(keepUsed(gone, { desired, actual, find, stuck }), fixed)
      : { removals: gone, kept: [] };
  const creations = actions.filter(({ action }) => action === 'create');
  const created = [...creations, ...fixed.filter(({ holder }) => holder !== undefined)];
  const renames = mode === 'converge' ? [] : offerRenames(created, gone, options);
  if (mode !== 'apply') actions.push(...removals);
  return {
    format: 1,
    namespace: desired.namespace,
    mode,
    target: options.target ?? null,
    actions: actions.map((action) => withBasis(action, actual)),
    conflicts: outcomes.flatMap(({ conflict }) => conflict ?? []),
    ambiguous: outcomes.flatMap(({ ambiguous }) => ambiguous ?? []),
    fixed,
    ...present(
      'waiting',
      outcomes.flatMap(({ waiting }) => waiting ?? []),
    ),
    ...present('kept', kept),
    ...present('renames', renames),
    ...present('secrets', keptSecrets(options)),
    ...(options.uncompared && { uncompared: options.uncompared }),
    lost: outcomes.flatMap(({ lost }) => lost ?? []),
    unknown: outcomes.flatMap(({ unknown }) => unknown ?? []),
    prunable,
    ...(mode === 'prune' ? confirmationFor(removals, { actual, owner }) : UNCONFIRMED),
    summary: summaryOf(actions),
  };
}

/** Keeps an object whose secret is declared for another one: its value would be lost with it. */
function withoutHolders(
  { removals, kept }: ReturnType<typeof keepUsed>,
  fixed: readonly Fixed[],
): ReturnType<typeof keepUsed> {
  const heirs = new Map(fixed.map(({ holder, kind, identity }) => [holder, `${kind} ${identity}`]));
  const held = removals.filter(({ id }) => id !== null && heirs.has(id));
  const reasons = held.map(({ kind, identity, id }) => {
    return { kind, identity, id, reason: `its value is declared for ${heirs.get(id!)}` };
  });
  return {
    removals: removals.filter((one) => !held.includes(one)),
    kept: [...kept, ...reasons],
  };
}

function withBasis(action: PlanAction, actual: ActualState): PlanAction {
  if (action.id === null || action.action === 'none') return action;
  const view = actual[action.kind].find(({ id }) => id === action.id);
  return view ? { ...action, basis: basisOf(view) } : action;
}

/** The member where there is anything to say. */
function present<K extends string, T>(name: K, list: readonly T[]) {
  return (list.length > 0 ? { [name]: list } : {}) as { readonly [N in K]?: readonly T[] };
}

/** The outcome without its change where an object that it refers to stays as it is. */
function waitingFor(
  stuck: ReadonlySet<string>,
  object: DesiredObject,
  outcome: ObjectOutcome,
): ObjectOutcome {
  const { action, ...rest } = outcome;
  if (stuck.size === 0 || action === undefined || action.action === 'none') return outcome;
  const missing = dependenciesOf(object).find((name) => stuck.has(name));
  if (missing === undefined) return outcome;
  const { kind, identity, id } = action;
  return { ...rest, waiting: { kind, identity, id, reason: `waits for ${missing}` } };
}

interface ObjectOptions extends PlanOptions {
  owner: Owner;
  find: typeof findActual;
  inventory: KnownObjects;
}

/** Entries of the namespace's inventory by the id, and by the name, of their object. */
interface KnownObjects {
  readonly byId: ReadonlyMap<string, InventoryEntry>;
  readonly byName: ReadonlyMap<string, InventoryEntry>;
}

function inventoryOf({ desired, mode, inventories = [] }: PlanOptions): KnownObjects {
  const own = inventories.find(({ namespace }) => namespace === desired.namespace);
  const objects = mode === 'converge' ? [] : (own?.objects ?? []);
  return {
    byId: new Map(objects.map((entry) => [entry.id, entry])),
    byName: new Map(objects.map((entry) => [`${entry.kind} ${entry.identity}`, entry])),
  };
}

/** Outcome of one declared object: an action, or the reason for which there can be none. */
interface ObjectOutcome {
  action?: PlanAction;
  /** The object of another name that it is so far. */
  former?: View;
  conflict?: Plan['conflicts'][number];
  ambiguous?: Plan['ambiguous'][number];
  fixed?: Fixed;
  waiting?: LeftOut;
  unknown?: Plan['unknown'][number];
  lost?: Plan['lost'][number];
}

function planObject(object: DesiredObject, options: ObjectOptions): ObjectOutcome {
  const { kind, identity } = object;
  const { desired, actual, mode, owner, find } = options;
  const found = findDeclared(object, actual, find);
  const formerly = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
  const former = formerly === undefined ? [] : find(kind, formerly, actual);
  const all = [...found, ...former];
  if (all.length > 1) return { ambiguous: { kind, identity, ids: all.map(({ id }) => id) } };
  const [view] = all;
  const { byId, byName } = options.inventory;
  if (view === undefined && object.id !== undefined) {
    return { lost: { kind, identity, id: object.id } };
  }
  if (view === undefined) {
    const fixed = takenValue(object, options);
    if (fixed) return { fixed };
    return { action: planCreation(object, { wasDeleted: byName.has(`${kind} ${identity}`) }) };
  }
  const entry = byId.get(view.id);
  // A key that is revoked never comes back; a file that is read at start leaves it so.
  if (mode !== 'converge' && (view['revoked_at'] ?? null) !== null)
    return { fixed: revokedKey(object, view) };
  const action = planComparison(object, view, {
    actual,
    owner,
    writeSecrets: options.writeSecrets ?? new Set(),
    secrets: options.secrets,
    adopt: options.adopt === true,
    mayReplace: mode !== 'converge',
    entry,
    formerly: former.length > 0 ? formerly : undefined,
  });
  const ownership = ownershipOf(view, owner);
  const isKnown = ownership !== 'own' || declaredBefore(view, entry) !== undefined;
  const rest = {
    ...(former.length > 0 && { former: view }),
    ...(!isKnown && { unknown: { kind, identity } }),
  };
  const isClaimed = action.action !== 'none' || (options.adopt === true && ownership === 'other');
  if (isClaimed && !mayWrite(kind, ownership, mode)) {
    return {
      ...rest,
      conflict: { kind, identity, id: view.id, owner: ownerName(view, owner.known) },
    };
  }
  if (action.action === 'none') {
    const reason = `as declared; managed by ${ownerName(view, owner.known)}`;
    return { ...rest, action: ownership === 'other' ? { ...action, reason } : action };
  }
  const { removedBy } = kindOf(kind);
  if (action.action === 'replace' && removedBy !== 'delete') {
    return { ...rest, fixed: fixedFields(object, view, action.forcedBy ?? []) };
  }
  return { ...rest, action };
}

/** The owner whose objects a plan of this mode may create, change and remove. */
export function ownerFor({
  desired,
  mode,
  fileOwner,
  inventories = [],
}: Pick<PlanOptions, 'desired' | 'mode' | 'fileOwner' | 'inventories'>): Owner {
  return mode === 'converge'
    ? { label: OWNER_LABEL, value: fileOwner ?? `file:${desired.namespace}` }
    : withInventories({ label: NAMESPACE_LABEL, value: desired.namespace }, inventories);
}

/** The labels of an object that this owner has just written. */
export function ownedLabels(
  object: DesiredObject,
  owner: Owner,
  actual: ActualState,
): Record<string, string> {
  const fields = toAppliedFields(object, actual);
  return {
    ...object.labels,
    [owner.label]: owner.value,
    [LAST_APPLIED_LABEL]: digestOf(object),
    ...(fields !== undefined && { [APPLIED_FIELDS_LABEL]: fields }),
    ...lifecycleLabels(object.lifecycle),
  };
}

/**
 * A file read at start may change the objects that it made and, because the gateway makes the first
 * one by itself, an organization without an owner.
 */
function mayWrite(kind: KindName, ownership: Ownership, mode: PlanMode): boolean {
  if (ownership !== 'none') return ownership === 'own';
  return mode !== 'converge' || kind === 'organization';
}

/** Kinds of the objects that a plan changes. */
export function writtenKinds({ actions }: Plan): KindName[] {
  return actions.filter(({ action }) => action !== 'none').map(({ kind }) => kind);
}

function summaryOf(actions: readonly PlanAction[]): Plan['summary'] {
  const count = (...names: ActionName[]) =>
    actions.filter(({ action }) => names.includes(action)).length;
  const none = count('none');
  return {
    create: count('create'),
    update: count('update'),
    replace: count('replace'),
    remove: count('delete', 'disable', 'revoke', 'archive'),
    none,
    total: actions.length - none,
  };
}

/** The actual state with the version that an action will make, for later actions of the plan. */
function withPlannedVersion(actual: ActualState, planned: PlanAction): ActualState {
  const { kind, id, action, changes } = planned;
  const isNew =
    action === 'update' && changes.some(({ field }) => field !== 'labels' && field !== LIFECYCLE);
  if (!isNew || kindOf(kind).definition.versioned !== true) return actual;
  const views = actual[kind].map((view) =>
    view.id === id ? { ...view, version: view.version + 1 } : view,
  );
  return { ...actual, [kind]: views };
}
