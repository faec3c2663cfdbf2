import type { Key } from '../store/store.ts';

/** The durable job that delivers the message of the same id. */
export const WEBHOOK_JOB = 'webhook';

/** One try to deliver a message. */
export interface DeliveryAttempt {
  /** Milliseconds since epoch. */
  readonly at: number;
  /** Status of the receiver's answer; null when nothing came. */
  readonly status: number | null;
  /** `delivered`, `status`, `redirect`, `timeout`, `network`, `too_large`, `refused`. */
  readonly outcome: string;
  readonly ms: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** A message of an organization and what became of it so far. */
export interface Delivery {
  /** `msg_…`, sent in `webhook-id` of every attempt. */
  readonly id: string;
  readonly organization: string;
  /** True for one to a target of the operator, which is none of the organization's business. */
  readonly isOperators?: boolean;
  /** `run.succeeded`, `run.failed`, or the type of an alert. */
  readonly type: string;
  /** Id of its subject. */
  readonly subject: string;
  /** Sealed: callers put tokens into it. */
  readonly sealedUrl: string;
  /** Fit to be shown: without user, query and fragment. */
  readonly shownUrl: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly status: DeliveryStatus;
  /** Attempts since it was last asked for, by the event or by hand. */
  readonly tries: number;
  /** The newest last; no more than {@link KEPT_ATTEMPTS}. */
  readonly attempts: readonly DeliveryAttempt[];
}

export const KEPT_ATTEMPTS = 20;

/** Most characters of an id in a key of the store; clients may send longer ones. */
const MAX_ID_CHARS = 64;

export const deliveriesOf = (organization: string): Key => ['webhook-delivery', organization];

/** Ids sort by the time of their creation. */
export const deliveryKey = (organization: string, id: string): Key => [
  ...deliveriesOf(organization),
  id.slice(0, MAX_ID_CHARS),
];

/** Key of a delivery to a target of the operator, apart from the list of the organization. */
export const operatorDeliveryKey = (organization: string, id: string): Key => [
  'operator-delivery',
  organization,
  id.slice(0, MAX_ID_CHARS),
];

export const urlPlace = (id: string): string => `webhook-delivery/${id}/url`;
