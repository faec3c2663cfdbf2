import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { lookUpVideo } from './look-up-video.ts';
import type { LookDeps } from './look-up-video.ts';
import type { VideoEntry } from './video-records.ts';

const SHORTEST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** Sees one task to its end when nobody asks for it: every 2 seconds at first, every minute in the end. */
export function createPollJob(deps: LookDeps): JobHandler {
  return async ({ job, signal }) => {
    const { organization } = isJsonObject(job.payload) ? job.payload : {};
    const entry = await deps.records.find(String(organization), job.id);
    if (!entry) return 'done';
    const { value } = await lookOrLater(entry, deps, signal);
    if (value.settlement !== 'reserved') return 'done';
    const age = deps.clock.now() - value.at;
    return { againInMs: Math.min(Math.max(age / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS) };
  };
}

/** A provider that cannot be asked now is asked later; what cannot be noted is an exception. */
async function lookOrLater(
  entry: VideoEntry,
  deps: LookDeps,
  signal: AbortSignal,
): Promise<VideoEntry> {
  try {
    return await lookUpVideo(entry, deps, signal);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code !== 'persistence_failed') return entry;
    throw thrown;
  }
}
