import type { Video } from '../../protocols/videos/video.ts';
import type { Settlement } from '../task-family.ts';
import type { TaskRecord } from '../task-rows.ts';

/** Video task of an organization; its id is `video_…`. */
export interface VideoRecord extends TaskRecord {
  /** Id at the provider. */
  readonly upstreamId: string;
  /** Last change that was seen, in milliseconds since epoch. */
  readonly updatedAt: number;
  /** Length of the clip, as the client asked for it. */
  readonly askedSeconds: number | null;
  /** State that was last seen. */
  readonly video: Video;
  readonly settlement: Settlement;
}
