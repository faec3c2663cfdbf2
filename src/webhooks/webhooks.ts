import { GatewayError } from '../core/errors.ts';
import type { Job, JobHandler, Jobs } from '../jobs/jobs.ts';
import type { Entry, Op } from '../store/store.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import { createDeliveryJob } from './deliver.ts';
import type { DeliverDeps } from './deliver.ts';
import {
  deliveriesOf,
  deliveryKey,
  operatorDeliveryKey,
  urlPlace,
  WEBHOOK_JOB,
} from './delivery.ts';
import type { Delivery } from './delivery.ts';

const MAX_URL_CHARS = 2048;
const MAX_TRIES = 5;

/** An event with a requested callback. */
export interface WebhookEvent extends Pick<
  Delivery,
  'id' | 'organization' | 'isOperators' | 'type' | 'subject' | 'at'
> {
  readonly url: string;
}

export interface DeliveryPage {
  /** The id after which the page begins. */
  after?: string | undefined;
  limit: number;
}

/**
 * Signed callbacks (contract: Events, asynchronous callback; Standard Webhooks). The log that an
 * organization reads has none that goes to a target of the operator: the URL is a secret of another.
 */
export interface Webhooks {
  /** Throws `invalid_request` for a URL that must not be called (requirement run.webhook.ssrf). */
  check(url: string): Promise<void>;
  /** Writes that have the event delivered, for the commit that makes it so; once for each id. */
  toSend(event: WebhookEvent): Op[];
  /** Throws `not_found`. */
  find(organization: string, id: string): Promise<Delivery>;
  /** Newest first. */
  list(organization: string, page: DeliveryPage): Promise<Delivery[]>;
  /**
   * Begins again, with the same id and all of its attempts. Throws `not_found`, or `conflict` while it is under
   * way.
   *
   * @param also further operations of the commit
   */
  redeliver(
    organization: string,
    id: string,
    also?: (delivery: Delivery) => Promise<readonly Op[]>,
  ): Promise<Delivery>;
  /** Handler of jobs of the kind `webhook`. */
  readonly handler: JobHandler;
}

export interface WebhooksOptions extends DeliverDeps {
  readonly jobs: Pick<Jobs, 'toAdd' | 'toWake'>;
}

/** Everything also rejects with `StoreError`. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, sealer, guard, jobs } = options;
  const get = async (organization: string, id: string): Promise<Entry<Delivery>> => {
    const entry = await store.get<Delivery>(deliveryKey(organization, id));
    if (entry) return entry;
    throw new GatewayError('not_found', { message: 'delivery not found' });
  };
  return {
    check: (url) => check(url, guard),
    toSend({ url, ...event }) {
      const value: Delivery = {
        ...event,
        sealedUrl: sealer.seal(url, urlPlace(event.id)),
        shownUrl: event.isOperators ? new URL(url).origin : shownOf(url),
        status: 'pending',
        tries: 0,
        attempts: [],
      };
      const { id, organization, isOperators } = event;
      const toKey = isOperators ? operatorDeliveryKey : deliveryKey;
      return [
        { type: 'put', key: toKey(organization, id), value, ifAbsent: true },
        ...jobs.toAdd(toJob({ id, organization, isOperators })),
      ];
    },
    find: async (organization, id) => (await get(organization, id)).value,
    async list(organization, { after, limit }) {
      const entries = await store.list<Delivery>({
        prefix: deliveriesOf(organization),
        limit,
        reverse: true,
        ...(after === undefined ? {} : { after: deliveryKey(organization, after) }),
      });
      return entries.map(({ value }) => value);
    },
    async redeliver(organization, id, also) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const { key, value, version } = await get(organization, id);
        if (value.status === 'pending') throw underWay(value);
        const next: Delivery = { ...value, status: 'pending', tries: 0 };
        const wake = await jobs.toWake(toJob({ id, organization }));
        const put: Op = { type: 'put', key, value: next, ifVersion: version };
        const more = (await also?.(next)) ?? [];
        if ((await store.commit([put, ...wake, ...more])).ok) return next;
      }
      throw new GatewayError('conflict', { message: 'others kept changing the delivery' });
    },
    handler: createDeliveryJob(options),
  };
}

const toJob = ({
  id,
  organization,
  isOperators,
}: Pick<WebhookEvent, 'id' | 'organization'> & { isOperators?: boolean | undefined }): Job => ({
  kind: WEBHOOK_JOB,
  id,
  payload: { organization, ...(isOperators && { isOperators }) },
  holder: organization,
});

async function check(url: string, guard: DeliverDeps['guard']): Promise<void> {
  const param = 'webhook_url';
  if (url.length > MAX_URL_CHARS) {
    const message = `\`${param}\` is longer than ${MAX_URL_CHARS} characters`;
    throw new GatewayError('invalid_request', { message, param });
  }
  try {
    await guard.check(url);
  } catch (cause) {
    if (!(cause instanceof UrlGuardError)) throw cause;
    const message = `\`${param}\` may not be called: ${cause.message}`;
    throw new GatewayError('invalid_request', { message, param, cause });
  }
}

function shownOf(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

function underWay({ id }: Delivery): GatewayError {
  const message = `the delivery ${id} is under way`;
  return new GatewayError('conflict', { message, type: 'delivery_pending', retry: false });
}
