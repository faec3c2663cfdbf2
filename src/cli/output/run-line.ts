import { statusOf } from '../../client/deployment-runs.ts';
import type { DeploymentRunView } from '../../client/deployment-runs.ts';
import { oneLine } from '../../core/printable.ts';
import { referenceText } from '../details/references.ts';

/** Trigger of a run, and the time at which it was due if not now. */
export function triggerOf({ trigger_context: trigger }: DeploymentRunView): string {
  return trigger.scheduled_at === undefined
    ? trigger.type
    : `${trigger.type} ${trigger.scheduled_at}`;
}

/** Its Session, or why it has none. */
export function outcomeOf({ session_id: session, error }: DeploymentRunView): string | null {
  return error === null ? session : `${error.type}: ${error.message}`;
}

/** One line of `runs watch`, with the name of the Schedule where the view has it. */
export function runLine(run: DeploymentRunView): string {
  const { id, created_at: at } = run;
  const schedule = String(referenceText(run, 'deployment_id'));
  const words = [at, statusOf(run), schedule, id, triggerOf(run), outcomeOf(run)];
  return oneLine(words.filter((word) => word !== null).join('  '));
}
