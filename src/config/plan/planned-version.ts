import type { ActualState } from '../actual/actual.ts';
import { LIFECYCLE } from '../actual/lifecycle.ts';
import { kindOf } from '../objects/kinds.ts';
import type { PlanAction } from './plan-action.ts';

/** The actual state with the version that an action will make, for what is planned behind it. */
export function withPlannedVersion(actual: ActualState, planned: PlanAction): ActualState {
  const { kind, id, action, changes } = planned;
  const isNew =
    action === 'update' && changes.some(({ field }) => field !== 'labels' && field !== LIFECYCLE);
  if (!isNew || kindOf(kind).definition.versioned !== true) return actual;
  const views = actual[kind].map((view) =>
    view.id === id ? { ...view, version: view.version + 1 } : view,
  );
  return { ...actual, [kind]: views };
}
