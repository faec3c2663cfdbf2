import type { Log } from '../core/log.ts';
import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import type { MessageSender } from '../scheduler/notify/send-message.ts';
import type { Op, Store } from '../store/store.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { alertKey, messageId } from './alert.ts';
import type { Alert } from './alert.ts';

/** The durable job that tells a chat of an alert. */
export const ALERT_CHAT_JOB = 'alert-chat';

/** Pauses behind the first try and the next ones; then it is given up. */
const PAUSES_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 1_800_000];
/** Longer than any window of a budget but a lifetime. */
const KEPT_MS = 400 * 24 * 3_600_000;

/** Places that are told of alerts, as URLs. */
export interface AlertTargets {
  /** Receivers of signed webhooks. */
  readonly webhooks: readonly string[];
  /** Custom bots of the chats that Schedules know. */
  readonly chats: readonly string[];
}

export interface AlertsOptions {
  readonly store: Store;
  readonly jobs: Pick<Jobs, 'toAdd'>;
  readonly webhooks: Pick<Webhooks, 'toSend'>;
  readonly sender: Pick<MessageSender, 'send'>;
  readonly log: Log;
  readonly targets: AlertTargets;
}

/** Tells each target of each event once, over all processes on the store. */
export interface Alerts {
  /**
   * Operations that raise the alert, for the commit of what it tells of. They conflict when it was
   * raised before.
   */
  toRaise(alert: Alert): Op[];
  /** Raises it unless it was raised before. Rejects with `StoreError`. */
  raise(alert: Alert): Promise<void>;
  /** Does the jobs of the kind `alert-chat`. */
  readonly chatHandler: JobHandler;
}

/**
 * Messages are jobs of the commit that notes the alert, so none is lost and none is made twice. One whose
 * answer was lost may come twice; webhooks carry the same id then.
 */
export function createAlerts(options: AlertsOptions): Alerts {
  const { store, jobs, webhooks, targets } = options;
  const toRaise = (alert: Alert): Op[] => {
    const { id, organization, type, at } = alert;
    const event = { organization, type, subject: id, at };
    return [
      { type: 'put', key: alertKey(id), value: { ...alert }, ifAbsent: true, ttlMs: KEPT_MS },
      ...targets.webhooks.flatMap((url) =>
        webhooks.toSend({ ...event, id: messageId(id, url), url }),
      ),
      ...targets.chats.flatMap((url) => {
        const name = messageId(id, url);
        const payload = { alert: id, target: messageId('', url) };
        return jobs.toAdd({ kind: ALERT_CHAT_JOB, id: name, payload, holder: organization });
      }),
    ];
  };
  return {
    toRaise,
    async raise(alert) {
      if (await store.get(alertKey(alert.id))) return;
      await store.commit(toRaise(alert));
    },
    chatHandler: createChatJob(options),
  };
}

function createChatJob({ store, sender, targets, log }: AlertsOptions): JobHandler {
  return async ({ job, attempt, signal }) => {
    const payload = job.payload as { alert: string; target: string };
    const alert = await store.get<Alert>(alertKey(payload.alert));
    // The operator may have taken the chat out of the settings.
    const webhook = targets.chats.find((url) => messageId('', url) === payload.target);
    if (!alert || webhook === undefined) return 'done';
    const delivery = await sender.send({ webhook, text: alert.value.text, signal });
    if (delivery.isDelivered) return 'done';
    const pause = PAUSES_MS[attempt - 1];
    if (!delivery.isFinal && pause !== undefined) return { againInMs: pause };
    log.warn('a chat was not told of an alert', { alert: payload.alert, reason: delivery.reason });
    return 'done';
  };
}
