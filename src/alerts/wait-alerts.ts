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
/** Milliseconds in which a program, or a person who looks on, may answer before anyone is notified. */
const PERMISSION_MS = 5_000;
const RESULT_MS = 60_000;
/** Milliseconds in which a Session is reported once, however often it waits. */
const SPAN_MS = 3_600_000;

export interface WaitAlertsOptions extends SessionLogOptions {
  readonly jobs: Pick<Jobs, 'toAdd'>;
  readonly alerts: Pick<Alerts, 'raise'>;
}

/** Reports Sessions that wait for a person: soon for a permission, which people give, and later for a result. */
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
      const at = log.now;
      const isRaised = await alerts.raise(waitingAlert(row, waiting, at));
      return isRaised ? 'done' : { againInMs: SPAN_MS - (at % SPAN_MS) };
    },
    toLook({ before, after }) {
      const { id, organization: holder, head, waitingSince: since = null } = after;
      if (before.awaiting.length > 0 || after.awaiting.length === 0) return [];
      const payload = { session: id, since };
      const job = { kind: WAITING_JOB, id: `${id}/${head}`, payload, holder };
      return jobs.toAdd(job, { inMs: PERMISSION_MS });
    },
  };
}

function quietMs({ calls }: Waiting): number {
  const asks = calls.some((call) => call.answered_by === 'user.tool_confirmation');
  return asks ? PERMISSION_MS : RESULT_MS;
}

/** Names tools and never their arguments, which may be secret. One for each Session and hour. */
function waitingAlert(
  { id, organization, agentId, deploymentId, endpointId }: SessionRow,
  { since, message, calls }: Waiting,
  at: number,
): Alert {
  const tools = [...new Set(calls.map(({ name }) => name))].join(', ');
  const ids = { session: id, agent: agentId, deployment: deploymentId, service: endpointId };
  return {
    id: `waiting/${id}/${Math.floor(at / SPAN_MS)}`,
    type: 'alert.waiting',
    organization,
    at,
    text: `Session ${id} waits for a person: ${message}; \`gateway sessions get ${id}\` shows what to type`,
    data: { ...ids, tools, since },
  };
}
