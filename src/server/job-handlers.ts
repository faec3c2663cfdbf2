import type { JobHandler } from '../jobs/jobs.ts';
import type { PublicDeps } from './public-routes.ts';

/** Who does which kind of durable job in this process. */
export function jobHandlers(_deps: PublicDeps): ReadonlyMap<string, JobHandler> {
  return new Map<string, JobHandler>([]);
}
