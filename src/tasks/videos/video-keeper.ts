import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { Call } from '../../inference/types.ts';
import type { WorkKeeper } from '../../inference/work-keeper.ts';
import type { ProviderWork } from '../../protocols/protocol.ts';
import { toSeconds, toShownText, toVideo } from '../../protocols/videos/video.ts';
import { contentTasks } from '../../protocols/videos/videos.ts';
import { redacted } from './look-up-video.ts';
import { settleVideo } from './settle-video.ts';
import type { SettleDeps } from './settle-video.ts';
import type { VideoRecord } from './video-records.ts';
import { toVideoObject } from './video-views.ts';

/** When nobody asks for the task, the gateway does so for the first time. */
const FIRST_POLL_MS = 2_000;

/**
 * Notes each task before the client learns of it, together with the durable job that sees it to its end,
 * and keeps its money reserved till then. The call that created it costs nothing itself.
 */
export function createVideoKeeper(deps: SettleDeps): WorkKeeper {
  const { records, charges } = deps;
  return {
    async onAnswer(call, { work }) {
      const record = toRecord(call, work);
      const { principal, at, bound } = call;
      try {
        const entry = await records.add(record, { call: call.id, pollInMs: FIRST_POLL_MS });
        await charges.hold({ id: record.id, principal, at, bound });
        await settleVideo(entry, deps);
      } catch (cause) {
        // The provider is at work: another try would make another video.
        throw new GatewayError('persistence_failed', { cause, retry: false });
      }
      const created = call.protocol === contentTasks ? { id: record.id } : toVideoObject(record);
      const body = Buffer.from(JSON.stringify(created));
      return { body, headers: {}, consumption: undefined };
    },
    ownerOf: () => Promise.reject(new GatewayError('not_found')),
    onStream: async () => undefined,
    onStreamEnd: async () => undefined,
  };
}

function toRecord(call: Call, work: ProviderWork | undefined): VideoRecord {
  const { answeredBy } = call.record;
  const video = work && toVideo(work.value);
  if (!answeredBy || !video) throw new Error('nobody answered');
  const { model, route } = answeredBy;
  const { keyId, keyName, organizationId } = call.principal;
  const { json } = call.peek;
  return {
    // As unique as the request and in the same order.
    id: `video_${call.id.slice(call.id.indexOf('_') + 1)}`,
    upstreamId: work.id,
    payer: { keyId, keyName, organizationId },
    at: call.at,
    updatedAt: call.at,
    model: call.model.id,
    answeredBy: model.id,
    provider: route.provider.name,
    account: route.provider.id,
    upstreamModel: route.upstreamModel,
    pricing: route.pricing,
    askedSeconds: toSeconds(json.get('seconds') ?? json.get('duration')) ?? null,
    video: {
      ...redacted(video),
      prompt: video.prompt ?? toShownText(json.get('prompt')),
      size: video.size ?? toShownText(json.get('size')),
    },
    settlement: 'reserved',
  };
}
