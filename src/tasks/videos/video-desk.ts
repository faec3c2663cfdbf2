import { GatewayError } from '../../core/errors.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import type { WorkKeeper } from '../../inference/work-keeper.ts';
import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type { Store } from '../../store/store.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import { askOwner } from './ask-owner.ts';
import { lookUpVideo } from './look-up-video.ts';
import { createPollJob } from './poll-job.ts';
import { isFinal } from './settle-video.ts';
import { createVideoKeeper } from './video-keeper.ts';
import { createVideoRecords } from './video-records.ts';
import type { VideoEntry, VideoPage, VideoRecord } from './video-records.ts';

export interface VideoDeskOptions {
  store: Store;
  jobs: Jobs;
  charges: Charges;
  inference: Pick<InferenceDeps, 'clock' | 'transportFor'>;
  catalog(): Catalog;
  /** How long one that is over is kept; null or absent: 60 days. */
  resultsKeptMs?: number | null;
}

/** Everything about video tasks behind the call that created one; its only state is the store. */
export interface VideoDesk {
  /** Keeps what is created. */
  readonly keeper: WorkKeeper;
  /** As last seen. Throws `not_found`. */
  find(organization: string, id: string): Promise<VideoRecord>;
  /** As it is now, or as last seen when the provider tells nothing. Throws `not_found`. */
  look(organization: string, id: string): Promise<VideoRecord>;
  /** As last seen. */
  list(organization: string, page: VideoPage): Promise<VideoRecord[]>;
  /**
   * Deletes a task that has ended, at the provider too. Throws `not_found`, `conflict` while it runs, or
   * what `askOwner` throws.
   */
  remove(organization: string, id: string): Promise<void>;
  /** Of the kind `VIDEO_POLL`. */
  readonly poll: JobHandler;
}

export function createVideoDesk(options: VideoDeskOptions): VideoDesk {
  const { store, jobs, charges, inference, catalog } = options;
  const { clock, transportFor } = inference;
  const records = createVideoRecords(store, jobs, options.resultsKeptMs);
  const deps = { clock, transportFor, catalog, charges, records };

  const find = async (organization: string, id: string): Promise<VideoEntry> => {
    const entry = await records.find(organization, id);
    if (!entry) throw new GatewayError('not_found', { message: 'video not found' });
    return entry;
  };
  const look = async (organization: string, id: string): Promise<VideoEntry> => {
    const entry = await find(organization, id);
    try {
      return await lookUpVideo(entry, deps);
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code !== 'persistence_failed') return entry;
      throw thrown;
    }
  };
  return {
    keeper: createVideoKeeper(deps),
    find: async (organization, id) => (await find(organization, id)).value,
    look: async (organization, id) => (await look(organization, id)).value,
    list: (organization, page) => records.list(organization, page),
    async remove(organization, id) {
      const entry = await look(organization, id);
      const { value } = entry;
      // Deleted before its end, it would never be charged for.
      if (!isFinal(value)) {
        const message = 'the video is still being made; it can be deleted afterwards';
        throw new GatewayError('conflict', { message, retry: false });
      }
      const { status } = await askOwner(value, 'DELETE', { deps });
      if (status >= 500 || status === 429) throw new GatewayError('no_route_succeeded');
      await records.drop(entry);
    },
    poll: createPollJob(deps),
  };
}
