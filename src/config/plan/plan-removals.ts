import {
  type ActualState,
  createFinder,
  findDeclared,
  identityOf,
  type View,
} from '../actual/actual.ts';
import type { Change } from '../actual/changes.ts';
import { byFallbacks, type DesiredState } from '../objects/desired.ts';
import { CONFIG_KINDS, kindOf, type KindName } from '../objects/kinds.ts';
import {
  labelsOf,
  type Owner,
  ownershipOf,
  PROTECTED_LABEL,
  PRUNE_LABEL,
} from '../actual/ownership.ts';
import type { PlanAction, PlanMode } from './plan-action.ts';
import { maySelect } from './selection.ts';

const MAX_UNCONFIRMED_REMOVALS = 10;

/** Kinds whose objects go at a reload when the file no longer declares them. */
const CONVERGED: ReadonlySet<KindName> = new Set(['model', 'alias', 'provider', 'api']);

export interface RemovalsOptions {
  readonly desired: DesiredState;
  readonly actual: ActualState;
  readonly mode: PlanMode;
  readonly owner: Owner;
  /** Views of declared objects that are renamed; they stay. */
  readonly renamed: ReadonlySet<View>;
  /** The only objects that may go. Default: all. */
  readonly removable: ReadonlySet<View> | undefined;
}

/** Owned objects that are no longer declared, dependents first. */
export function planRemovals({
  desired,
  actual,
  mode,
  owner,
  renamed,
  removable,
}: RemovalsOptions): PlanAction[] {
  const find = createFinder();
  const declared = new Set(desired.objects.flatMap((object) => findDeclared(object, actual, find)));
  return CONFIG_KINDS.filter(({ kind }) => desired.managed.has(kind))
    .filter(({ kind }) => mode !== 'converge' || CONVERGED.has(kind))
    .flatMap(({ kind }) => {
      const gone = actual[kind]
        .filter(
          (view) => ownershipOf(view, owner) === 'own' && !declared.has(view) && !renamed.has(view),
        )
        .filter((view) => labelsOf(view)[PROTECTED_LABEL] !== 'true')
        .filter((view) => removable?.has(view) ?? true)
        .filter((view) => maySelect(desired.selection, kind, { view, actual }))
        .map((view) => ({ name: identityOf(kind, view, actual), body: view, view }));
      return byFallbacks(gone).map(({ view, name }) => removal(kind, view, name));
    })
    .filter((action): action is PlanAction => action !== undefined)
    .reverse();
}

/** Undefined when the object is switched off already. */
function removal(kind: KindName, view: View, identity: string): PlanAction | undefined {
  const { removedBy, off, definition } = kindOf(kind);
  const asked = labelsOf(view)[PRUNE_LABEL];
  const keep = off && removedBy === 'delete' && asked === 'disable';
  const goes = removedBy === 'archive' && definition.deletable && asked === 'delete';
  const action = keep ? 'disable' : goes ? 'delete' : removedBy;
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

/** Confirmation that removals need: their number, or none. */
export interface Confirmation {
  /** Number to repeat in any case: all that the owner has of a kind, or many. */
  readonly confirmPrune: number | null;
  /** Removals for ever that no lifecycle allows; without a prompt, their number is repeated. */
  readonly irreversible: readonly { readonly kind: KindName; readonly identity: string }[];
}

export function confirmationFor(
  removals: readonly PlanAction[],
  { actual, owner }: Pick<RemovalsOptions, 'actual' | 'owner'>,
): Confirmation {
  const isEmptied = CONFIG_KINDS.some(({ kind }) => {
    const count = removals.filter((action) => action.kind === kind).length;
    return count > 0 && count === actual[kind].filter((view) => isOwned(view, owner)).length;
  });
  const isMany = removals.length > MAX_UNCONFIRMED_REMOVALS;
  const views = new Map(
    CONFIG_KINDS.flatMap(({ kind }) => actual[kind].map((one) => [one.id, one])),
  );
  return {
    confirmPrune: isEmptied || isMany ? removals.length : null,
    irreversible: removals
      .filter(({ kind, action }) => kindOf(kind).isGoneForEver && action !== 'disable')
      .filter(({ id }) => labelsOf(views.get(id ?? '') ?? {})[PRUNE_LABEL] !== 'delete')
      .map(({ kind, identity }) => ({ kind, identity })),
  };
}

function isOwned(view: View, owner: Owner): boolean {
  return ownershipOf(view, owner) === 'own' && (view['revoked_at'] ?? null) === null;
}
