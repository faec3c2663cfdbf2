import { createHash } from 'node:crypto';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Entry, Key, Store } from '../../store/store.ts';
import { handOver } from '../../usage/recovery/hand-over.ts';
import type { PayingKey } from '../../usage/principal.ts';
import type { Pricing } from '../../usage/usage.ts';

/** Longer than any provider keeps an Interaction, so that its end can still be told then. */
const TTL_MS = 60 * 24 * 3_600_000;

/** The durable job that sees work to its end when nobody asks. */
export const POLL_JOB = 'interaction-poll';

/** What is kept of a terminal Interaction for when its provider has forgotten it. */
export interface KeptInteraction {
  /** JSON. */
  readonly body: string;
  /** `event`: as a stream told it; `lossy`: without its media; `whole`: the provider's own bytes. */
  readonly form: 'event' | 'lossy' | 'whole';
}

/** Where an Interaction lives, whose it is, and whether it is paid for. */
export interface InteractionRecord {
  /** The provider's. */
  readonly id: string;
  /** Id of the request that created it. */
  readonly call: string;
  readonly payer: PayingKey;
  /** Milliseconds since epoch. */
  readonly at: number;
  /** The logical model that was asked for. */
  readonly model: string;
  /** The logical model that answered; another after a fallback. */
  readonly answeredBy: string;
  readonly provider: string;
  /** Id of the provider account. */
  readonly account: string;
  readonly upstreamModel: string;
  readonly showsLogicalModel: boolean;
  /** Of the day it was created. */
  readonly pricing: Pricing;
  /** Bytes of the request, for an estimate. */
  readonly inputBytes: number;
  /** `call`: by the call that created it; `due`: when it is over; `settled`: once, since it was. */
  readonly charge: 'call' | 'due' | 'settled';
  /** False: the client wants nothing of it to be kept. */
  readonly isStored: boolean;
  /** Absent until it was seen to be terminal. */
  readonly kept?: KeptInteraction | undefined;
}

export type InteractionEntry = Entry<InteractionRecord>;

/** Interactions by the key that created them: another key finds nothing. Rejects with `StoreError`. */
export interface InteractionRecords {
  find(keyId: string, id: string): Promise<InteractionEntry | undefined>;
  /** Durable when it resolves. */
  put(record: InteractionRecord): Promise<void>;
  /** Together with the job that sees it to its end. */
  putWithJob(record: InteractionRecord, inMs: number): Promise<InteractionEntry>;
  /** False when somebody else changed it first. */
  change(entry: InteractionEntry, changes: Partial<InteractionRecord>): Promise<boolean>;
}

/** @param keptMs how long one that is over and paid for is kept; null: 60 days */
export function createInteractionRecords(
  store: Store,
  jobs: Jobs,
  keptMs: number | null = null,
): InteractionRecords {
  const put = (record: InteractionRecord) =>
    ({
      type: 'put',
      key: keyOf(record.payer.keyId, record.id),
      value: record,
      ttlMs: record.charge === 'due' ? TTL_MS : (keptMs ?? TTL_MS),
    }) as const;
  return {
    find: (keyId, id) => store.get<InteractionRecord>(keyOf(keyId, id)),
    async put(record) {
      await store.commit([put(record)]);
    },
    async putWithJob(record, inMs) {
      const { call, id, payer } = record;
      const payload = { key: payer.keyId, id };
      const job = { kind: POLL_JOB, id: call, payload, holder: payer.organizationId };
      const operation = put(record);
      const added = jobs.toAdd(job, { inMs });
      // The task is charged by the id of its call.
      const result = await store.commit([operation, handOver(call, call), ...added]);
      if (!result.ok) throw new Error(`the job of ${call} exists already`);
      return { key: operation.key, value: record, version: result.version };
    },
    async change({ value, version }, changes) {
      const operation = { ...put({ ...value, ...changes }), ifVersion: version };
      return (await store.commit([operation])).ok;
    },
  };
}

/** Ids come from providers and clients, so their length is theirs too. */
function keyOf(keyId: string, id: string): Key {
  return ['interaction', keyId, createHash('sha256').update(id).digest('base64url')];
}
