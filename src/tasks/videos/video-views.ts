import { toContentStatus } from '../../protocols/videos/content-task.ts';
import type { VideoRecord } from './video-record.ts';

/** A task as the official client knows it. */
export function toVideoObject({ id, at, model, askedSeconds, video }: VideoRecord): object {
  const seconds = video.seconds ?? askedSeconds;
  return {
    id,
    object: 'video',
    created_at: toSeconds(at),
    status: video.state,
    model,
    progress: video.progress,
    prompt: video.prompt,
    seconds: seconds === null ? null : String(seconds),
    size: video.size,
    completed_at: video.completedAt,
    expires_at: video.expiresAt,
    error: video.error,
    remixed_from_video_id: null,
  };
}

/** A task in the content-generation form; `origin` is where the client reaches the gateway, with its prefix. */
export function toContentTask(record: VideoRecord, origin: string): object {
  const { id, at, updatedAt, model, askedSeconds, video } = record;
  const { state, error, tokens } = video;
  const duration = video.seconds ?? askedSeconds;
  return {
    id,
    model,
    status: toContentStatus(state),
    ...(error ? { error } : {}),
    ...(state === 'completed'
      ? {
          content: { video_url: `${origin}/v1/videos/${id}/content` },
          usage: { completion_tokens: tokens, total_tokens: tokens },
        }
      : {}),
    ...(duration === null ? {} : { duration }),
    created_at: toSeconds(at),
    updated_at: toSeconds(updatedAt),
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
