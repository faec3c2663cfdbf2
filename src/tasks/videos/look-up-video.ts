import { isDeepStrictEqual } from 'node:util';
import { toPublicMessage } from '../../core/redact.ts';
import { GatewayError } from '../../core/errors.ts';
import { readVideo } from '../../protocols/videos/video.ts';
import type { Video } from '../../protocols/videos/video.ts';
import { askOwner } from './ask-owner.ts';
import type { AskDeps } from './ask-owner.ts';
import { isFinal, settleVideo } from './settle-video.ts';
import type { SettleDeps } from './settle-video.ts';
import type { VideoEntry, VideoRecord } from './video-records.ts';

/** A task that its provider does not know for so long is lost, and was never just late. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** No task runs longer. */
const GIVEN_UP_AFTER_MS = 7 * 24 * 3_600_000;

export type LookDeps = AskDeps & SettleDeps;

/**
 * Brings a task up to date: asks the account that has it, notes what it says, and settles the task when
 * it has ended. A state that is final is never left again, whatever a provider says later; one that the
 * provider has lost, or has not ended within a week, is closed as failed.
 *
 * @throws GatewayError `no_route_succeeded`, `upstream_timeout` or `invalid_upstream_response` when the
 *   provider tells nothing now; `persistence_failed` and `StoreError` when an end cannot be noted
 */
export async function lookUpVideo(
  entry: VideoEntry,
  deps: LookDeps,
  signal?: AbortSignal,
): Promise<VideoEntry> {
  if (isFinal(entry.value)) return settleVideo(entry, deps);
  const age = deps.clock.now() - entry.value.at;
  if (age > GIVEN_UP_AFTER_MS)
    return note(entry, failed('timeout', 'it was not made in time'), deps);
  const { status, body } = await askOwner(entry.value, 'GET', { deps, signal });
  if (status === 404 || status === 410) {
    if (age <= FORGOTTEN_AFTER_MS) return entry;
    return note(entry, failed('not_found', 'the provider no longer has it'), deps);
  }
  if (status < 200 || status > 299) throw new GatewayError('no_route_succeeded');
  const seen = readVideo(body);
  if (!seen) throw new GatewayError('invalid_upstream_response');
  return note(entry, redacted(seen.video), deps);
}

async function note(entry: VideoEntry, seen: Video, deps: LookDeps): Promise<VideoEntry> {
  const { value: record } = entry;
  const video = joined(record, seen);
  if (isDeepStrictEqual(video, record.video)) return entry;
  const changed = await deps.records.change(entry, { video, updatedAt: deps.clock.now() });
  const { payer, id } = record;
  const current = changed ?? (await deps.records.find(payer.organizationId, id)) ?? entry;
  return settleVideo(current, deps);
}

/** What was known stays known when a later answer leaves it out. */
function joined({ video }: VideoRecord, seen: Video): Video {
  return {
    ...seen,
    prompt: seen.prompt ?? video.prompt,
    size: seen.size ?? video.size,
    seconds: seen.seconds ?? video.seconds,
  };
}

function failed(code: string, message: string): Video {
  return {
    state: 'failed',
    progress: 0,
    completedAt: null,
    expiresAt: null,
    prompt: null,
    size: null,
    seconds: null,
    error: { code, message },
    tokens: 0,
  };
}

/** A provider's own words may hold what is nobody else's business. */
export function redacted(video: Video): Video {
  const { error } = video;
  return error ? { ...video, error: { ...error, message: toPublicMessage(error.message) } } : video;
}
