import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { JobHandler, JobResult, JobRun, Jobs } from '../../jobs/jobs.ts';
import type { SessionOutcome } from '../../sessions/outcome.ts';
import type { Op } from '../../store/store.ts';
import { NOTIFY_JOB } from '../job-kinds.ts';
import type { RunRow } from '../run-row.ts';
import type { RunStore } from '../runs.ts';
import { runMessage, TEST_MESSAGE } from './run-message.ts';
import type { MessageSender } from './send-message.ts';

/** Pauses after the first try and the next ones; then it is given up. */
const PAUSES_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 1_800_000];
/** Pause after the first look at a Session that runs, and the longest; each later one is twice as long. */
const LOOK_MS = 1_000;
const MAX_LOOK_MS = 60_000;

/** A Schedule as far as it is announced. */
export interface NotifiedSchedule {
  readonly name: string;
  /** The plain URL; undefined when none is configured. */
  readonly webhook: string | undefined;
}

export interface NotifierDeps {
  readonly jobs: Pick<Jobs, 'toAdd'>;
  readonly runs: Pick<RunStore, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly sender: MessageSender;
  /** Undefined also for another organization's. */
  findSchedule(organization: string, deploymentId: string): Promise<NotifiedSchedule | undefined>;
  /** What became of a Session; null for one that is gone. */
  findOutcome(organization: string, session: string): Promise<SessionOutcome | null>;
}

/** Sends the runs of Schedules to chats (contract: Schedules, notifications). */
export interface Notifier {
  /**
   * Returns the operations that announce a run, for the commit that decides it; once for each run, when its
   * Session is at rest.
   */
  announce(run: RunRow): Op[];
  /** Does the jobs of the kind `schedule-notify`. What becomes of them never changes a run. */
  readonly handler: JobHandler;
  /**
   * Sends the fixed message once; `before` is waited for when all is ready for it.
   *
   * @throws GatewayError `not_found`; `conflict` without a webhook; `notification_failed` when the
   *   provider refused it or was not reached
   */
  test(organization: string, deploymentId: string, before?: () => Promise<void>): Promise<void>;
}

interface Payload {
  readonly organization: string;
  readonly decidedAt: string;
  /** Goes that found the Session running. Absent: none. */
  readonly looks?: number;
}

/**
 * Messages are tried up to 6 times within 45 minutes, and again after a crash, so one whose answer was
 * lost may come twice.
 */
export function createNotifier(deps: NotifierDeps): Notifier {
  const { jobs, clock, sender, findSchedule } = deps;
  return {
    announce({ id, organization }) {
      const payload: Payload = { organization, decidedAt: new Date(clock.now()).toISOString() };
      return jobs.toAdd({ kind: NOTIFY_JOB, id, payload, holder: organization });
    },
    handler: (go) => announceRun(deps, go),
    async test(organization, deploymentId, before) {
      const schedule = await findSchedule(organization, deploymentId);
      if (!schedule)
        throw new GatewayError('not_found', { message: `no deployment ${deploymentId}` });
      const { webhook } = schedule;
      if (webhook === undefined) throw notConfigured(deploymentId);
      await before?.();
      const delivery = await sender.send({ webhook, text: TEST_MESSAGE });
      if (delivery.isDelivered) return;
      throw new GatewayError('notification_failed', { message: delivery.reason, retry: false });
    },
  };
}

async function announceRun(
  { runs, log, sender, findSchedule, findOutcome }: NotifierDeps,
  { job, attempt, signal }: JobRun,
): Promise<JobResult> {
  const payload = job.payload as Payload;
  const { organization, decidedAt, looks = 0 } = payload;
  const run = await runs.get(organization, job.id);
  if (!run) return 'done';
  const schedule = await findSchedule(organization, run.deploymentId);
  if (schedule?.webhook === undefined) return 'done';
  const { name, webhook } = schedule;
  const { sessionId } = run;
  const outcome = sessionId === null ? null : await findOutcome(organization, sessionId);
  if (outcome?.type === 'running') {
    const againInMs = Math.min(LOOK_MS * 2 ** looks, MAX_LOOK_MS);
    return { againInMs, payload: { ...payload, looks: looks + 1 } };
  }
  const text = runMessage({ run, name, outcome, decidedAt });
  const delivery = await sender.send({ webhook, text, signal });
  if (delivery.isDelivered) return 'done';
  const { reason, isFinal } = delivery;
  const tries = attempt - looks;
  const pause = PAUSES_MS[tries - 1];
  if (!isFinal && pause !== undefined) return { againInMs: pause };
  log.warn('a run of a Schedule was not announced', {
    deployment: run.deploymentId,
    run: run.id,
    reason,
    attempts: tries,
  });
  return 'done';
}

function notConfigured(id: string): GatewayError {
  const message = `no chat webhook is configured for ${id}`;
  return new GatewayError('conflict', { message, type: 'chat_webhook_missing', retry: false });
}
