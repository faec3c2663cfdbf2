import type { RunRow } from '../scheduler/run-row.ts';
import { INTERRUPTED, outcomeOf } from '../sessions/outcome.ts';
import type { SessionRow } from '../sessions/session-row.ts';
import type { Alert } from './alert.ts';

const DAY_LENGTH = '2026-11-21'.length;

/** Undefined for a run that succeeded. */
export function runAlert(
  { id, organization, deploymentId, error }: RunRow,
  at: number,
): Alert | undefined {
  if (error === null) return undefined;
  return {
    id: `schedule/${id}`,
    type: 'alert.schedule',
    organization,
    at,
    text: `Schedule ${deploymentId}: run ${id} failed: ${error.type}: ${error.message}`,
    data: { deployment: deploymentId, run: id, error: error.type },
  };
}

/** Row of a Session before and after a change. */
export interface SessionChange {
  readonly before: SessionRow;
  readonly after: SessionRow;
}

/**
 * Undefined unless the work of a Schedule's Session has just failed, or was ended by its time; a client that
 * interrupts it knows. The id is that of the event, so a Session that fails again is reported again.
 *
 * @param name of the Schedule
 */
export function sessionAlert(
  { before, after }: SessionChange,
  { name, at }: { readonly name: string; readonly at: number },
): Alert | undefined {
  const { id, organization, deploymentId, runId = null, head } = after;
  const { type, reason = null, message } = outcomeOf(after) ?? {};
  const isBad = (type === 'failed' && reason !== INTERRUPTED) || type === 'ended_by_time';
  if (deploymentId === null || after.rest === before.rest || !isBad) return undefined;
  const what = type === 'failed' ? 'failed' : 'was ended by time';
  const why = message ?? reason;
  return {
    id: `schedule/${id}/${head}`,
    type: 'alert.schedule',
    organization,
    at,
    text: `Schedule ${name} (${deploymentId}): Session ${id} ${what}: ${why}`,
    data: { deployment: deploymentId, name, run: runId, session: id, error: reason },
  };
}

/** Call of unknown price. */
export interface UnpricedCall {
  readonly id: string;
  readonly organization: string;
  /** Provider that answered; an API answers as its own. */
  readonly provider: string;
  /** Model at the provider; of an API its name, and never the path, which is the client's. */
  readonly model: string;
}

/** One for each model of a provider, or API, and day (UTC): such calls come in thousands. */
export function unpricedAlert(call: UnpricedCall, at: number): Alert {
  const { id, organization, provider, model } = call;
  const day = new Date(at).toISOString().slice(0, DAY_LENGTH);
  const what = model === provider ? model : `${model} at ${provider}`;
  return {
    id: `unpriced/${organization}/${provider}/${model}/${day}`,
    type: 'alert.unpriced',
    organization,
    at,
    text: `Unpriced: nobody knows the price of ${what}; first call of ${day}: ${id}`,
    data: { request: id, provider, model, day },
  };
}
