import type { RequestOrigin } from '../../usage/origin.ts';
import type { PayingKey } from '../../usage/principal.ts';
import type { UsageRecord } from '../../usage/requests/request-record.ts';
import type { TaskStatus } from '../task-family.ts';

/** The durable job that does the run of the same id. */
export const RUN_JOB = 'run';

/** Address to call back, and the id of the message. */
export interface RunWebhook {
  /** `msg_…` */
  readonly id: string;
  /** Sealed. */
  readonly url: string;
}

/** A run of an organization. */
export interface RunRecord {
  /** `run_…`, opaque for clients. */
  readonly id: string;
  /** `req_…`: the request that made it, and the record of the call that it makes. */
  readonly call: string;
  readonly payer: PayingKey;
  /** Circumstances of the request that made it; absent: nothing is known. */
  readonly origin?: RequestOrigin | undefined;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly endedAt: number | null;
  /** Logical name of the model or API. */
  readonly model: string;
  /** Never changes once it is one of the last three (requirement run.create.sync-200). */
  readonly status: TaskStatus;
  /** Bytes kept with it: its input until it ended, then its output. */
  readonly bytes: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: UsageRecord | null;
  /** Nano-dollars; null: unknown. */
  readonly cost: number | null;
  /** Its task, once there is one: the work continues after its call. */
  readonly video: string | null;
  readonly webhook: RunWebhook | null;
}

export const isOver = ({ status }: Pick<RunRecord, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

/** `code` of a run whose call was under way when its process stopped: it may have been carried out. */
export const INTERRUPTED = 'interrupted';

/** Field for which the URL of a run is sealed. */
export const webhookPlace = (id: string): string => `run/${id}/webhook_url`;
