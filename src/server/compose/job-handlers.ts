import { AUDIT_SEAL_JOB, createSealJob, SEAL_SOON } from '../../audit/seal-audit.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { pollsOf } from '../../tasks/open-tasks.ts';
import { openRetention } from './open-retention.ts';
import type { RetentionOptions } from './open-retention.ts';
import type { PublicDeps } from '../routes/public-routes.ts';

/** Handlers of the durable jobs that this process does, by kind. */
export async function jobHandlers({
  tasks,
  ...options
}: Pick<PublicDeps, 'tasks'> & RetentionOptions): Promise<ReadonlyMap<string, JobHandler>> {
  // The job may be left from the last start: then it continues.
  await options.jobs.add(AUDIT_SEAL_JOB, SEAL_SOON);
  return new Map([
    [AUDIT_SEAL_JOB.kind, createSealJob(options)],
    ...(await openRetention(options)),
    ...pollsOf(tasks),
  ]);
}
