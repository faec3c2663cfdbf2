import type { Jobs } from '../../jobs/jobs.ts';
import type { Video } from '../../protocols/videos/video.ts';
import type { Entry, Key, Store } from '../../store/store.ts';
import { handOver } from '../../usage/recovery/hand-over.ts';
import type { PayingKey } from '../../usage/principal.ts';
import type { Pricing } from '../../usage/usage.ts';

/** Since it was last seen to change; no provider keeps a video nearly so long. */
const TTL_MS = 60 * 24 * 3_600_000;

/** The durable job that sees a task to its end when nobody asks. */
export const VIDEO_POLL = 'video-poll';

/** A video task of an organization, at whichever provider it is. */
export interface VideoRecord {
  /** `video_…`, the gateway's own. */
  readonly id: string;
  /** The provider's. */
  readonly upstreamId: string;
  readonly payer: PayingKey;
  /** Milliseconds since epoch; `updatedAt` is when it was last seen to change. */
  readonly at: number;
  readonly updatedAt: number;
  /** The logical model that was asked for. */
  readonly model: string;
  /** The logical model that answered; another after a fallback. */
  readonly answeredBy: string;
  readonly provider: string;
  /** Id of the provider account. */
  readonly account: string;
  readonly upstreamModel: string;
  /** Of the day it was created. */
  readonly pricing: Pricing;
  /** Length of the clip, as the client asked for it. */
  readonly askedSeconds: number | null;
  /** As last seen. */
  readonly video: Video;
  /** `settled`: charged for; `released`: it cost nothing. */
  readonly settlement: 'reserved' | 'settled' | 'released';
}

export type VideoEntry = Entry<VideoRecord>;

export interface VideoPage {
  /** The id behind which the page begins. */
  after?: string | undefined;
  limit: number;
  /** Default: newest first. */
  oldestFirst?: boolean;
}

/** Video tasks by organization: another one finds nothing. Rejects with `StoreError`. */
export interface VideoRecords {
  find(organization: string, id: string): Promise<VideoEntry | undefined>;
  /**
   * Together with the job that sees it to its end, in place of the call that is charged then; durable
   * when it resolves.
   */
  add(record: VideoRecord, from: { call: string; pollInMs: number }): Promise<VideoEntry>;
  /** The changed entry; undefined when somebody else changed it first. */
  change(entry: VideoEntry, changes: Partial<VideoRecord>): Promise<VideoEntry | undefined>;
  list(organization: string, page: VideoPage): Promise<VideoRecord[]>;
  drop(entry: VideoEntry): Promise<void>;
}

/** @param keptMs how long a task that is over and settled is kept; null: 60 days */
export function createVideoRecords(
  store: Store,
  jobs: Jobs,
  keptMs: number | null = null,
): VideoRecords {
  const put = (value: VideoRecord) =>
    ({
      type: 'put',
      key: keyOf(value.payer.organizationId, value.id),
      value,
      ttlMs: value.settlement === 'reserved' ? TTL_MS : (keptMs ?? TTL_MS),
    }) as const;
  return {
    find: (organization, id) => store.get<VideoRecord>(keyOf(organization, id)),
    async add(record, { call, pollInMs }) {
      const { id, payer } = record;
      const organization = payer.organizationId;
      const job = { kind: VIDEO_POLL, id, payload: { organization }, holder: organization };
      const operation = put(record);
      const added = jobs.toAdd(job, { inMs: pollInMs });
      const result = await store.commit([operation, handOver(call, id), ...added]);
      if (!result.ok) throw new Error(`the job of ${id} exists already`);
      return { key: operation.key, value: record, version: result.version };
    },
    async change({ key, value, version }, changes) {
      const next = { ...value, ...changes };
      const result = await store.commit([{ ...put(next), ifVersion: version }]);
      return result.ok ? { key, value: next, version: result.version } : undefined;
    },
    async list(organization, { after, limit, oldestFirst = false }) {
      const entries = await store.list<VideoRecord>({
        prefix: ['video', organization],
        limit,
        reverse: !oldestFirst,
        ...(after === undefined ? {} : { after: keyOf(organization, after) }),
      });
      return entries.map(({ value }) => value);
    },
    async drop({ key }) {
      await store.commit([{ type: 'delete', key }]);
    },
  };
}

/** What a client sends as an id may be longer than a key. */
const MAX_ID_CHARS = 64;

/** Ids sort by the time of their creation. */
function keyOf(organization: string, id: string): Key {
  return ['video', organization, id.slice(0, MAX_ID_CHARS)];
}
