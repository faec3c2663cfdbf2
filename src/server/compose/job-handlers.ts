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
  return new Map([...(await openRetention(options)), ...pollsOf(tasks)]);
}
