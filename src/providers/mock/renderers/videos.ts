import type { JsonObject } from '../json.ts';
import { toOpenAiError } from '../mock-error.ts';
import type { MockError } from '../mock-error.ts';
import type { Renderer, Rendering } from './renderer.ts';

export type VideoState = 'queued' | 'in_progress' | 'completed' | { failed: MockError };

const DAY = 86_400;

/** Videos: creating one answers a queued job; lookups move it on. */
export const videosRenderer: Renderer = {
  body: (rendering) => toVideo(rendering, 'queued'),
  error: toOpenAiError,
};

export function toVideo({ request, id, created }: Rendering, state: VideoState): JsonObject {
  const { seconds = '4', size = '720x1280' } = request.body;
  const done = state === 'completed';
  const failed = typeof state === 'object' ? state.failed : undefined;
  return {
    id: videoId(id),
    object: 'video',
    model: request.model,
    status: failed ? 'failed' : state,
    progress: done ? 100 : state === 'in_progress' ? 50 : 0,
    created_at: created,
    completed_at: done ? created : null,
    expires_at: done ? created + DAY : null,
    prompt: request.userText,
    seconds: typeof seconds === 'number' ? String(seconds) : seconds,
    size,
    remixed_from_video_id: null,
    error: failed
      ? { code: String(failed.code ?? 'video_generation_failed'), message: failed.message }
      : null,
  };
}

export function videoId(id: string): string {
  return `video_${id}`;
}

/** The `ftyp` box that an MP4 file starts with, and an empty `mdat`. */
export function emptyMp4(): Buffer {
  const type = Buffer.from('....ftypisom\0\0\u0002\0isommp42', 'latin1');
  const data = Buffer.from('....mdat', 'latin1');
  type.writeUInt32BE(type.length, 0);
  data.writeUInt32BE(data.length, 0);
  return Buffer.concat([type, data]);
}
