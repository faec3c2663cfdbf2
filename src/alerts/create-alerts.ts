import type { Log } from '../core/log.ts';
import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import type { MessageSender } from '../scheduler/notify/send-message.ts';
import type { Op, Store } from '../store/store.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { alertKey, messageId } from './alert.ts';
import type { Alert } from './alert.ts';
import type { MailDelivery, MailTarget, SendMail } from './send-mail.ts';

/** The durable job that sends an alert to a chat. */
export const ALERT_CHAT_JOB = 'alert-chat';
/** The same for mails. */
export const ALERT_MAIL_JOB = 'alert-mail';

/** Pauses after the first try and the next ones; then it is given up. */
const PAUSES_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 1_800_000];
/** Longer than any window of a budget but a lifetime. */
const KEPT_MS = 400 * 24 * 3_600_000;

/** Targets of alerts; those without a name as URLs. */
export interface AlertTargets {
  /** Receivers of signed webhooks. */
  readonly webhooks: readonly string[];
  /** Custom bots of the chats that Schedules know. */
  readonly chats: readonly string[];
  readonly mails: readonly MailTarget[];
}

export interface AlertsOptions {
  readonly store: Store;
  readonly jobs: Pick<Jobs, 'toAdd'>;
  readonly webhooks: Pick<Webhooks, 'toSend'>;
  readonly sender: Pick<MessageSender, 'send'>;
  readonly sendMail: SendMail;
  readonly log: Log;
  readonly targets: AlertTargets;
}

/** Reports each event once to each target, over all processes on the store. */
export interface Alerts {
  /** Operations that raise the alert, for the commit of its event. They conflict when it was raised before. */
  toRaise(alert: Alert): Op[];
  /** Raises it unless it was raised before: false. Rejects with `StoreError`. */
  raise(alert: Alert): Promise<boolean>;
  /** Does the jobs of the kinds `alert-chat` and `alert-mail`. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
}

/**
 * Messages are jobs of the commit that notes the alert, so none is lost and none is made twice. One whose
 * answer was lost may come twice; webhooks carry the same id then.
 */
export function createAlerts(options: AlertsOptions): Alerts {
  const { store, jobs, webhooks, targets } = options;
  const toTell = (kind: string, target: string, { id, organization }: Alert): Op[] => {
    const payload = { alert: id, target: messageId('', target) } satisfies Message;
    return jobs.toAdd({ kind, id: messageId(id, target), payload, holder: organization });
  };
  const toRaise = (alert: Alert): Op[] => {
    const { id, organization, type, at } = alert;
    const event = { organization, type, subject: id, at };
    const kept = alert.isForGood === true ? {} : { ttlMs: KEPT_MS };
    return [
      { type: 'put', key: alertKey(id), value: { ...alert }, ifAbsent: true, ...kept },
      // One that is listed twice is notified once; a second message of its id would refuse the commit.
      ...[...new Set(targets.webhooks)].flatMap((url) =>
        webhooks.toSend({ ...event, id: messageId(id, url), url, isOperators: true }),
      ),
      ...[...new Set(targets.chats)].flatMap((url) => toTell(ALERT_CHAT_JOB, url, alert)),
      ...targets.mails.flatMap(({ name }) => toTell(ALERT_MAIL_JOB, mailKey(name), alert)),
    ];
  };
  return {
    toRaise,
    async raise(alert) {
      if (await store.get(alertKey(alert.id))) return false;
      return (await store.commit(toRaise(alert))).ok;
    },
    handlers: new Map([
      [ALERT_CHAT_JOB, createChatJob(options)],
      [ALERT_MAIL_JOB, createMailJob(options)],
    ]),
  };
}

function createChatJob(options: AlertsOptions): JobHandler {
  const { sender, targets } = options;
  return createTellJob(options, ({ target }, { text }, signal) => {
    const webhook = targets.chats.find((url) => messageId('', url) === target);
    return webhook === undefined ? undefined : sender.send({ webhook, text, signal });
  });
}

const mailKey = (name: string): string => `mail:${name}`;
/** Longest subject of a mail, in characters. */
const MAX_SUBJECT = 150;

function createMailJob(options: AlertsOptions): JobHandler {
  const { sendMail, targets } = options;
  return createTellJob(options, ({ target: wanted, left }, alert) => {
    const target = targets.mails.find(({ name }) => messageId('', mailKey(name)) === wanted);
    const to = target?.to.filter((address) => !left || left.includes(messageId('', address)));
    if (!target || !to?.length) return undefined;
    const { id, type, at, text, data } = alert;
    const facts = Object.entries({ type, at: new Date(at).toISOString(), ...data });
    const lines = facts.map(([name, value]) => `${name}: ${value ?? ''}`);
    const mail = {
      id: messageId(id, mailKey(target.name)),
      subject: text.replace(/\s+/g, ' ').slice(0, MAX_SUBJECT),
      text: `${text}\n\n${lines.join('\n')}\n`,
    };
    return sendMail({ ...target, to }, mail);
  });
}

/** Payload of a job that sends an alert. */
interface Message {
  readonly alert: string;
  /** Hash of the target: a URL may be a secret. */
  readonly target: string;
  /** Hashes of the receivers that were not notified yet; absent: all. */
  readonly left?: readonly string[];
}

/** Returns the target of a message; undefined for one that the operator has taken out of the settings. */
type Tell = (
  message: Message,
  alert: Alert,
  signal: AbortSignal,
) => Promise<MailDelivery> | undefined;

function createTellJob({ store, log }: AlertsOptions, tell: Tell): JobHandler {
  return async ({ job, attempt, signal }) => {
    const message = job.payload as Message;
    const alert = await store.get<Alert>(alertKey(message.alert));
    const delivery = alert && (await tell(message, alert.value, signal));
    if (!delivery || delivery.isDelivered) return 'done';
    const { reason, isFinal, isRefused, left } = delivery;
    const pause = isFinal ? undefined : PAUSES_MS[attempt - 1];
    if (pause === undefined || isRefused) {
      const { kind } = job;
      log.warn('a target was not told of an alert', { kind, alert: message.alert, reason });
    }
    if (pause === undefined) return 'done';
    if (!left) return { againInMs: pause };
    const hashes = left.map((address) => messageId('', address));
    return { againInMs: pause, payload: { ...message, left: hashes } };
  };
}
