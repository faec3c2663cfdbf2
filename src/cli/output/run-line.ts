import { statusOf } from '../../client/deployment-runs.ts';
import type { DeploymentRunView, JoinedRun } from '../../client/deployment-runs.ts';
import type { RunOutcome } from '../../client/run-outcome.ts';
import { oneLine } from '../../core/printable.ts';
import { referenceText } from '../details/references.ts';

const WORDS: Readonly<Record<RunOutcome['type'], string>> = {
  pending: 'pending',
  running: 'running',
  completed: 'completed',
  waiting: 'waits for a person',
  failed: 'failed',
  ended_by_time: 'ended by time',
  unknown: 'unknown',
};

/** Trigger of a run, and the time at which it was due if not now. */
export function triggerOf({ trigger_context: trigger }: DeploymentRunView): string {
  return trigger.scheduled_at === undefined
    ? trigger.type
    : `${trigger.type} ${trigger.scheduled_at}`;
}

/** `failed: retries_exhausted: no provider route succeeded` */
export function outcomeText({ type, message, reason }: RunOutcome): string {
  const parts = [WORDS[type], type === 'failed' ? reason : null, message];
  return parts.filter((part) => part !== null).join(': ');
}

/** The same for a cell: the cause without its code, and no calls that wait. */
export function outcomeCell(outcome: RunOutcome): string {
  if (outcome.type === 'waiting') return WORDS.waiting;
  return outcomeText(outcome.message === null ? outcome : { ...outcome, reason: null });
}

/** State of a run without a look at its Session. */
export function beginningOf(run: DeploymentRunView): string {
  if (run.error !== null) return `failed: ${run.error.type}: ${run.error.message}`;
  return statusOf(run) === 'pending' ? 'pending' : 'began its Session';
}

/** One line of `runs watch` and `trigger --tail`, with the name of the Schedule where the view has it. */
export function runLine(run: DeploymentRunView | JoinedRun): string {
  const { id, created_at: at, session_id: session } = run;
  const schedule = String(referenceText(run, 'deployment_id'));
  const became = 'outcome' in run ? outcomeText(run.outcome as RunOutcome) : beginningOf(run);
  const words = [at, schedule, id, triggerOf(run), session, became];
  return oneLine(words.filter((word) => word !== null).join('  '));
}
