import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import type { OperatorNames } from '../resources/kinds/agent-fields.ts';
import { changeSession, archiveSession } from './change-session.ts';
import { followLog } from './log/follow-log.ts';
import { PURGE_JOB, TURN_JOB } from './log/job-kinds.ts';
import { listSessions } from './list-sessions.ts';
import { createPurgeJob, removeSession } from './remove-session.ts';
import { readEvents, startOf } from './log/read-events.ts';
import { sendEvents, toInput } from './log/send-events.ts';
import { noSession, SessionLog } from './log/session-log.ts';
import type { SessionLogOptions } from './log/session-log.ts';
import type { SessionRow } from './session-row.ts';
import type { Session } from './session.ts';
import type { Sessions, Termination, TurnRunner } from './sessions.ts';
import { startSession } from './start-session.ts';
import { createTurnJob } from './turn-job.ts';
import { waitingOf } from './waiting.ts';
import type { Whose } from './log/send-events.ts';
import type { NewEvent } from './log/session-event.ts';

export interface SessionsOptions extends SessionLogOptions {
  readonly jobs: Jobs;
  readonly runner: TurnRunner;
  /** Changed Agents may name nothing else of the operator's. Default: not judged. */
  readonly operator?: OperatorNames;
}

/** The Sessions on a store, and who does their durable work in this process, by kind. */
export interface SessionsParts {
  readonly sessions: Sessions;
  readonly handlers: ReadonlyMap<string, JobHandler>;
}

export function createSessions({
  jobs,
  runner,
  operator,
  ...options
}: SessionsOptions): SessionsParts {
  const log = new SessionLog(options);
  const whole = async (row: SessionRow): Promise<Session> => {
    const session = await log.withAgent(row);
    if (!session) throw noSession();
    return session;
  };
  const sessions: Sessions = {
    create: (input) => startSession({ log, jobs }, input),
    get: async (organization, id) => whole(await log.load(organization, id)),
    waitingOf: (session) => waitingOf(log, session),
    list: (organization, query) => listSessions(log, organization, query),
    update: async (organization, id, changes) =>
      whole(await changeSession({ log, operator }, { organization, id }, changes)),
    archive: async (organization, id, archival) =>
      whole(await archiveSession(log, { organization, id }, archival)),
    terminate: (organization, id, termination) =>
      terminateSession(log, { organization, id }, termination),
    remove: (organization, id, commit) =>
      removeSession({ log, jobs }, { organization, id }, commit),
    send: (organization, id, input) =>
      sendEvents({ log, jobs }, { organization, id }, toInput(input)),
    async read(organization, id, query) {
      return readEvents(log, await log.load(organization, id), query);
    },
    async follow(organization, id, { after, signal, deltas = [] }) {
      const row = await log.load(organization, id);
      return followLog(log, { id, after: await startOf(log, row, after), signal, deltas });
    },
  };
  return {
    sessions,
    handlers: new Map([
      [TURN_JOB, createTurnJob({ log, runner })],
      [PURGE_JOB, createPurgeJob(log)],
    ]),
  };
}

/** See `Sessions.terminate`. The runner of its turn finds that it is no longer its own. */
async function terminateSession(
  log: SessionLog,
  { organization, id }: Whose,
  { reason, onlyIf = () => true }: Termination,
): Promise<boolean> {
  const error = {
    type: 'unknown_error',
    message: reason,
    retry_status: { type: 'terminal' },
  };
  const last: NewEvent[] = [
    { type: 'session.error', error },
    { type: 'session.status_terminated' },
  ];
  const events = log.identify(last);
  const changed = await log.change(id, (row) => {
    if (row?.organization !== organization) throw noSession();
    if (row.status === 'terminated' || !onlyIf(row)) return undefined;
    return { row: { ...row, turn: null }, events };
  });
  return changed !== undefined;
}
