import { createHash } from 'node:crypto';
import type { Key, Store } from '../store/store.ts';
import type { Delivery } from '../webhooks/delivery.ts';

export type AlertType =
  | 'alert.budget'
  | 'alert.forecast'
  | 'alert.outage'
  | 'alert.recovery'
  | 'alert.refusal'
  | 'alert.schedule'
  | 'alert.unpriced'
  | 'alert.waiting';

/** Event that is reported to operators. */
export interface Alert {
  /** Names the event: the same id is reported once, by any process and however often it is seen. */
  readonly id: string;
  /** True for one that never may come again; others are remembered for 400 days. */
  readonly isForGood?: boolean;
  readonly type: AlertType;
  /** Owner of its subject; its secret signs the webhook. */
  readonly organization: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  /** One line for people. */
  readonly text: string;
  /** Facts for programs. */
  readonly data: Readonly<Record<string, string | number | null>>;
}

export const alertKey = (id: string): Key => ['alert', id];

/** Id of a message about an alert to one target, the same at every process. */
export const messageId = (alert: string, target: string): string =>
  `msg_${createHash('sha256').update(`${alert}\0${target}`).digest('hex').slice(0, 32)}`;

/** The JSON of a webhook about an alert; undefined at once for another webhook. */
export function alertBody(
  store: Pick<Store, 'get'>,
  { type, subject }: Delivery,
): Promise<string | undefined> | undefined {
  if (!type.startsWith('alert.')) return undefined;
  return store.get<Alert>(alertKey(subject)).then((entry) => entry && toBody(entry.value));
}

function toBody({ type, at, text, data }: Alert): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { ...data, text } });
}
