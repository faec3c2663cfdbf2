import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import { SessionLog } from '../sessions/log/session-log.ts';
import type { SessionLogOptions } from '../sessions/log/session-log.ts';
import type { SessionRow } from '../sessions/session-row.ts';
import { waitingOf } from '../sessions/waiting.ts';
import type { Waiting } from '../sessions/waiting.ts';
import type { Op } from '../store/store.ts';
import type { Alert } from './alert.ts';
import type { Alerts } from './create-alerts.ts';
import type { SessionChange } from './event-alerts.ts';

/** The durable job that reports a Session which waits for a person, if it still does. */
export const WAITING_JOB = 'alert-waiting';
/** Milliseconds that a program may take to give the result of a tool, before a person is notified. */
const RESULT_MS = 60_000;

export interface WaitAlertsOptions extends SessionLogOptions {
  readonly jobs: Pick<Jobs, 'toAdd'>;
  readonly alerts: Pick<Alerts, 'raise'>;
}

/** Reports Sessions that wait for a person: at once for a permission, which only people give. */
export interface WaitAlerts {
  /** Does the jobs of the kind `alert-waiting`. */
  readonly handler: JobHandler;
  /** Operations for the commit with which a Session begins to wait; none for another change. */
  toLook(change: SessionChange): Op[];
}

export function createWaitAlerts({ jobs, alerts, ...options }: WaitAlertsOptions): WaitAlerts {
  const log = new SessionLog(options);
  return {
    async handler({ job: { payload } }) {
      const { session, since } = payload as { session: string; since: number };
      const row = (await log.find(session))?.value;
      // Another wait has a job of its own.
      const waiting = row?.waitingSince === since ? await waitingOf(log, row) : null;
      if (!row || !waiting) return 'done';
      const left = since + quietMs(waiting) - log.now;
      if (left > 0) return { againInMs: left };
      await alerts.raise(waitingAlert(row, waiting, log.now));
      return 'done';
    },
    toLook({ before, after }) {
      const { id, organization: holder, head, waitingSince: since = null } = after;
      if (before.awaiting.length > 0 || after.awaiting.length === 0) return [];
      const payload = { session: id, since };
      return jobs.toAdd({ kind: WAITING_JOB, id: `${id}/${head}`, payload, holder });
    },
  };
}

function quietMs({ calls }: Waiting): number {
  return calls.some((call) => call.answered_by === 'user.tool_confirmation') ? 0 : RESULT_MS;
}

/** Names tools and never their arguments, which may be secret. One for each wait. */
function waitingAlert(
  { id, organization, agentId, deploymentId, endpointId }: SessionRow,
  { since, message, calls }: Waiting,
  at: number,
): Alert {
  const tools = [...new Set(calls.map(({ name }) => name))].join(', ');
  const ids = { session: id, agent: agentId, deployment: deploymentId, service: endpointId };
  return {
    id: `waiting/${id}/${since}`,
    type: 'alert.waiting',
    organization,
    at,
    text: `Session ${id} waits for a person: ${message}; \`gateway sessions get ${id}\` shows what to type`,
    data: { ...ids, tools, since },
  };
}
