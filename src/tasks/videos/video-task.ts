import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../core/errors.ts';
import { toPublicMessage } from '../../core/redact.ts';
import type { Call } from '../../inference/types.ts';
import type { ProviderWork } from '../../protocols/protocol.ts';
import {
  readVideo,
  toSeconds,
  toShownText,
  toVideo,
  videoUsage,
} from '../../protocols/videos/video.ts';
import type { ReadVideo, Video } from '../../protocols/videos/video.ts';
import { contentTasks, videos } from '../../protocols/videos/videos.ts';
import { STANDARD } from '../../protocols/family.ts';
import type { Family } from '../../protocols/family.ts';
import type { InferenceSurface } from '../../protocols/surface.ts';
import type { CommitResult, Op } from '../../store/store.ts';
import { priceOf } from '../../usage/spend/pricing.ts';
import { OWN_ID, siblingOf } from '../identity.ts';
import type { Lost, TaskCharge } from '../task-family.ts';
import { defineTask } from '../task.ts';
import type { TaskService } from '../task.ts';
import { recordOf, trackCreations } from '../track-creations.ts';
import type { VideoRecord } from './video-record.ts';
import { toVideoObject } from './video-views.ts';

const FAMILY: Family = { ...STANDARD, envelope: 'flat', refusals: [404, 413] };

/** `POST /v1/videos` (decisions: Native video tasks). A repeated call may be billed twice. */
export const videosSurface: InferenceSurface = {
  name: 'videos',
  paths: ['/v1/videos'],
  family: FAMILY,
  protocol: videos,
  repeatable: false,
  modelType: 'video',
  forms: 'also',
  lookUp: (id) => `GET /v1/videos/${siblingOf(id, 'video')}`,
};

/** `POST /v1/contents/generations/tasks`: the same task in another form. */
export const contentTasksSurface: InferenceSurface = {
  name: 'videos',
  paths: ['/v1/contents/generations/tasks'],
  family: FAMILY,
  protocol: contentTasks,
  repeatable: false,
  modelType: 'video',
  lookUp: (id) => `GET /v1/contents/generations/tasks/${siblingOf(id, 'video')}`,
};

export type VideoService = TaskService<VideoRecord, ReadVideo>;

const STATUSES = {
  queued: 'queued',
  in_progress: 'running',
  completed: 'succeeded',
  failed: 'failed',
} as const;

/** Texts of tasks that their provider has lost. */
const LOST: Readonly<Record<Lost, string>> = {
  not_found: 'the provider no longer has it',
  timeout: 'it was not made in time',
};

export const openVideos = defineTask<VideoRecord, ReadVideo>({
  name: 'video',
  job: 'video-poll',
  protocol: 'videos',
  identity: OWN_ID,
  pollMs: 2_000,
  maxAnswerBytes: 4 * 1024 * 1024,
  tracker: trackCreations({
    toRecord,
    toBody: (record, { request }) =>
      request.protocol === contentTasks ? { id: record.id } : toVideoObject(record),
  }),
  isReserved: ({ settlement }) => settlement === 'reserved',
  read: (_record, body) => readVideo(body),
  note(record, seen, now) {
    const video = joined(record, typeof seen === 'string' ? failed(seen) : redacted(seen.video));
    return isDeepStrictEqual(video, record.video) ? undefined : { video, updatedAt: now };
  },
  endOf(record) {
    const { state } = record.video;
    if (state === 'completed') return chargeOf(record);
    return state === 'failed' ? 'free' : undefined;
  },
  close({ settlement }, end) {
    if (settlement !== 'reserved') return undefined;
    return { settlement: end === 'free' ? 'released' : 'settled' };
  },
  tell: ({ video, settlement }) => ({ status: STATUSES[video.state], settlement }),
});

/** Task to be deleted. */
export interface VideoRemoval {
  readonly organization: string;
  readonly id: string;
  /** Commits the removal; default: only in the store. */
  readonly commit?: (ops: readonly Op[], record: VideoRecord) => Promise<CommitResult>;
}

/**
 * Deletes a task that has ended, at the provider too.
 *
 * @throws GatewayError `not_found`, `conflict` while it runs, `no_route_succeeded`, `upstream_timeout`
 */
export async function removeVideo(
  tasks: VideoService,
  { organization, id, commit }: VideoRemoval,
): Promise<void> {
  const entry = await tasks.look(organization, id);
  const { state } = entry.value.video;
  // Deleted before its end, it would never be charged for.
  if (state !== 'completed' && state !== 'failed') {
    const message = 'the video is still being made; it can be deleted afterwards';
    throw new GatewayError('conflict', { message, retry: false });
  }
  const { status } = await tasks.ask(entry.value, { method: 'DELETE' });
  if (status >= 500 || status === 429) throw new GatewayError('no_route_succeeded');
  await tasks.rows.drop(entry, commit && ((ops) => commit(ops, entry.value)));
}

function toRecord(call: Call, { id, value }: ProviderWork): VideoRecord {
  const video = toVideo(value);
  if (!video) throw new Error('the answer has no video task');
  const { json } = call.peek;
  return {
    ...recordOf(call),
    id: siblingOf(call.request.id, 'video'),
    upstreamId: id,
    updatedAt: call.request.at,
    askedSeconds: toSeconds(json.get('seconds') ?? json.get('duration')) ?? null,
    video: {
      ...redacted(video),
      prompt: video.prompt ?? toShownText(json.get('prompt')),
      size: video.size ?? toShownText(json.get('size')),
    },
    settlement: 'reserved',
  };
}

/** Keeps what a later answer leaves out. */
function joined({ video }: VideoRecord, seen: Video): Video {
  return {
    ...seen,
    prompt: seen.prompt ?? video.prompt,
    size: seen.size ?? video.size,
    seconds: seen.seconds ?? video.seconds,
  };
}

function failed(code: Lost): Video {
  return {
    state: 'failed',
    progress: 0,
    completedAt: null,
    expiresAt: null,
    prompt: null,
    size: null,
    seconds: null,
    error: { code, message: LOST[code] },
    tokens: 0,
  };
}

/** Hides what a provider's own words may hold of secrets. */
function redacted(video: Video): Video {
  const { error } = video;
  return error ? { ...video, error: { ...error, message: toPublicMessage(error.message) } } : video;
}

function chargeOf({ video, askedSeconds, pricing, updatedAt }: VideoRecord): TaskCharge {
  const usage = videoUsage(video, askedSeconds);
  return {
    result: 'ok',
    usage,
    estimated: video.seconds === null,
    ...priceOf(usage, pricing),
    endedAt: updatedAt,
  };
}
