import { videoUsage } from '../../protocols/videos/video.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import type { RequestOutcome } from '../../usage/ledger/ledger.ts';
import { costOf } from '../../usage/spend/pricing.ts';
import type { VideoEntry, VideoRecord, VideoRecords } from './video-records.ts';

export interface SettleDeps {
  records: VideoRecords;
  charges: Charges;
}

export const isFinal = ({ video }: VideoRecord): boolean =>
  video.state === 'completed' || video.state === 'failed';

/**
 * Charges for a completed task, once over all processes, and gives back what was held for a failed one.
 * Does nothing while it runs or when that is done. Rejects with `persistence_failed` or `StoreError`;
 * to be repeated then.
 */
export async function settleVideo(
  entry: VideoEntry,
  { records, charges }: SettleDeps,
): Promise<VideoEntry> {
  const { value: record } = entry;
  if (!isFinal(record) || record.settlement !== 'reserved') return entry;
  const isCompleted = record.video.state === 'completed';
  if (isCompleted) {
    await charges.charge({
      id: record.id,
      principal: record.payer,
      surface: 'videos',
      model: record.model,
      at: record.at,
      outcome: outcomeOf(record),
    });
  } else await charges.release(record.id);
  const settlement = isCompleted ? 'settled' : 'released';
  // Whoever was faster noted the same.
  return (await records.change(entry, { settlement })) ?? entry;
}

function outcomeOf(record: VideoRecord): RequestOutcome {
  const { video, askedSeconds, pricing, provider, upstreamModel } = record;
  const usage = videoUsage(video, askedSeconds);
  return {
    status: 200,
    result: 'ok',
    answeredBy: { model: record.answeredBy, provider, upstreamModel },
    attempts: [],
    usage,
    estimated: video.seconds === null,
    cost: costOf(usage, pricing),
    losses: [],
    overheadUs: 0,
    firstContentMs: null,
    totalMs: Math.max(0, record.updatedAt - record.at),
  };
}
