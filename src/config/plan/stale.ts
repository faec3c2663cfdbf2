import { type ActualState, findActual, type View } from '../actual/actual.ts';
import { changedSince } from '../actual/basis.ts';
import type { DesiredState } from '../objects/desired.ts';
import { type Owner, ownerName, ownershipOf } from '../actual/ownership.ts';
import type { PlanAction } from './plan-action.ts';

export interface PlanState {
  readonly actual: ActualState;
  readonly owner: Owner;
  readonly desired: Pick<DesiredState, 'moved' | 'objects'>;
}

/** Change of an object since its action was planned; undefined when the action may be taken. */
export function staleness(
  planned: PlanAction,
  { actual, owner, desired }: PlanState,
  find = findActual,
): string | undefined {
  const { kind, identity, action, id, version } = planned;
  if (action === 'create') {
    return find(kind, identity, actual).length === 0 ? undefined : 'exists by now';
  }
  const view = actual[kind].find((one) => one.id === id);
  if (view === undefined) return 'does not exist any more';
  if (action === 'none') return undefined;
  if (!mayTake(planned, view, owner)) return `belongs to ${ownerName(view, owner.known)}`;
  const former = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
  const pinned = desired.objects.find((one) => one.kind === kind && one.identity === identity)?.id;
  const isNamed =
    pinned === id ||
    [identity, former ?? identity].some((name) => find(kind, name, actual).includes(view));
  if (!isNamed) return `${view.id} is another object`;
  if (view.version === version) return undefined;
  const fields = changedSince(planned.basis ?? {}, view);
  const versions = `version ${view.version} instead of ${version}`;
  const isKnown = planned.basis !== undefined && fields.length > 0;
  return isKnown ? `${fields.join(', ')} changed since: ${versions}` : versions;
}

/** False for writing objects of another owner and for removing objects without an owner. */
function mayTake({ action }: PlanAction, view: View, owner: Owner): boolean {
  const ownership = ownershipOf(view, owner);
  return (
    ownership === 'own' || (ownership === 'none' && (action === 'update' || action === 'replace'))
  );
}
