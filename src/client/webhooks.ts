import { hasStrings, isPageOf } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';

/** Secret that signs the webhooks of the organization; shown this once. */
export interface WebhookSecret {
  secret: string;
  created_at: string;
  previous_valid_until: string | null;
  [field: string]: unknown;
}

/** A message and what became of it. */
export interface WebhookDelivery {
  id: string;
  event: string;
  subject: string;
  url: string;
  status: string;
  attempts: { at: string; status: number | null; outcome: string }[];
  created_at: string;
  [field: string]: unknown;
}

export interface WebhooksClient {
  /** Never repeated; needs the scope `credentials`. */
  rotateSecret(signal?: AbortSignal): Promise<WebhookSecret>;
  /** Newest first, all pages followed; needs the scope `run`. */
  deliveries(signal?: AbortSignal): AsyncGenerator<WebhookDelivery, void, undefined>;
  /** Never repeated. */
  redeliver(id: string, signal?: AbortSignal): Promise<WebhookDelivery>;
}

const DELIVERIES = '/v1/webhooks/deliveries';
const isSecret = hasStrings<WebhookSecret>('secret', 'created_at');
const isDelivery = hasStrings<WebhookDelivery>('id', 'event', 'subject', 'url', 'status');

export function createWebhooksClient(http: Http): WebhooksClient {
  return {
    async rotateSecret(signal) {
      const path = '/v1/webhooks/secret/rotate';
      return (await http.json({ method: 'POST', path, signal }, isSecret)).body;
    },
    deliveries: (signal) =>
      eachItem(async (page) => {
        const query = { limit: 100, page };
        const call = { method: 'GET', path: DELIVERIES, query, signal };
        return (await http.json(call, isPageOf(isDelivery))).body;
      }),
    async redeliver(id, signal) {
      const path = `${DELIVERIES}/${encodeURIComponent(id)}/redeliver`;
      return (await http.json({ method: 'POST', path, signal }, isDelivery)).body;
    },
  };
}
