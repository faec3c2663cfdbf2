import type { Clock } from '../core/time/clock.ts';
import { CLOCK_SLACK_MS } from '../core/time/deadline.ts';
import { GatewayError } from '../core/errors.ts';
import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import type { TimeoutPolicy } from '../resources/kinds/deployment-fields.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Op } from '../store/store.ts';
import { TIMEOUT_JOB } from './job-kinds.ts';

interface Payload {
  readonly organization: string;
  readonly policy: TimeoutPolicy;
  /** Milliseconds since epoch that count in place of those of its times that lie in the future. */
  readonly since?: number;
}

type Timed = Pick<Session, 'status' | 'createdAt' | 'updatedAt' | 'archivedAt'>;

/** Operations for the commit that makes the Session. */
export function timeoutOps(
  { id, organization }: Pick<Session, 'id' | 'organization'>,
  policy: TimeoutPolicy | null,
  jobs: Pick<Jobs, 'toAdd'>,
): Op[] {
  if (policy === null) return [];
  const payload: Payload = { organization, policy };
  const job = { kind: TIMEOUT_JOB, id, payload, holder: organization };
  return jobs.toAdd(job, { inMs: leastOf(policy) });
}

const leastOf = (policy: TimeoutPolicy): number => Math.min(...Object.values(policy)) * 1_000;

/**
 * Terminates a Session so many seconds after it was made, or after its last event while it is idle
 * (requirement deployments.timeout-policy). A Session that runs is looked at again when it could be due
 * had it become idle now, so never too late.
 */
export function createTimeoutJob({
  sessions,
  clock,
}: {
  readonly sessions: Pick<Sessions, 'get' | 'terminate'>;
  readonly clock: Clock;
}): JobHandler {
  return async ({ job: { id, payload } }) => {
    const { organization, policy, since: noted } = payload as Payload;
    const now = clock.now();
    // The job has waited at least for the shorter of the two.
    const since = noted !== undefined && noted <= now ? noted : now - leastOf(policy);
    const endAt = (session: Timed): number =>
      endOf(inThePast(session, { now, since }), policy, now);
    const isOver = (session: Timed): boolean => endAt(session) <= now;
    const session = await sessions.get(organization, id).catch(ifGone);
    if (!session || session.status === 'terminated' || session.archivedAt !== null) return 'done';
    if (isOver(session)) {
      const reason = 'the session has reached the timeout of its Schedule';
      await sessions.terminate(organization, id, { reason, onlyIf: isOver }).catch(ifGone);
      return { againInMs: 0 };
    }
    const againInMs = Math.max(1, endAt(session) - now);
    const isAhead = inThePast(session, { now, since }) !== session;
    return isAhead ? { againInMs, payload: { organization, policy, since } } : { againInMs };
  };
}

/** A clock that was ahead must not make a Session last longer: its timestamps count from `since` on. */
function inThePast(session: Timed, { now, since }: { now: number; since: number }): Timed {
  const isAhead = (at: string): boolean => Date.parse(at) > now + CLOCK_SLACK_MS;
  const { createdAt, updatedAt } = session;
  if (!isAhead(createdAt) && !isAhead(updatedAt)) return session;
  const from = new Date(since).toISOString();
  return {
    ...session,
    createdAt: isAhead(createdAt) ? from : createdAt,
    updatedAt: isAhead(updatedAt) ? from : updatedAt,
  };
}

/** Instant of the timeout if nothing happens from now on, in ms since epoch. */
function endOf(session: Timed, policy: TimeoutPolicy, now: number): number {
  const { session_timeout_seconds: whole, idle_timeout_seconds: idle } = policy;
  const since = session.status === 'idle' ? Date.parse(session.updatedAt) : now;
  return Math.min(
    whole === undefined ? Infinity : Date.parse(session.createdAt) + whole * 1_000,
    idle === undefined ? Infinity : since + idle * 1_000,
  );
}

/** Undefined for the error that a Session is not there; throws every other one. */
export function ifGone(error: unknown): undefined {
  if (error instanceof GatewayError && error.code === 'not_found') return undefined;
  throw error;
}
