import type { JobHandler } from '../../jobs/jobs.ts';
import { createInteractionDesk } from '../../tasks/interactions/interaction-desk.ts';
import { POLL_JOB } from '../../tasks/interactions/interaction-records.ts';
import { createVideoDesk } from '../../tasks/videos/video-desk.ts';
import { VIDEO_POLL } from '../../tasks/videos/video-records.ts';
import { openRetention } from './open-retention.ts';
import type { RetentionOptions } from './open-retention.ts';
import type { PublicDeps } from '../routes/public-routes.ts';

/** Creates the handlers of durable jobs in this process, by kind. */
export async function jobHandlers(
  deps: PublicDeps & RetentionOptions,
): Promise<ReadonlyMap<string, JobHandler>> {
  return new Map<string, JobHandler>([
    ...(await openRetention(deps)),
    [POLL_JOB, createInteractionDesk(deps).poll],
    [VIDEO_POLL, createVideoDesk(deps).poll],
  ]);
}
