import { type ActualState, findActual } from './actual.ts';
import type { PlanAction } from './plan-action.ts';

/** What became of an object since its action was planned; undefined when it is as it was. */
export function staleness(
  { kind, identity, action, id, version }: PlanAction,
  actual: ActualState,
  find = findActual,
): string | undefined {
  if (action === 'create') {
    return find(kind, identity, actual).length === 0 ? undefined : 'exists by now';
  }
  const view = actual[kind].find((one) => one.id === id);
  if (view === undefined) return 'does not exist any more';
  if (action === 'none' || view.version === version) return undefined;
  return `version ${view.version} instead of ${version}`;
}
