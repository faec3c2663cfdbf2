import { MASK } from '../../audit/changed-fields.ts';
import { GatewayError } from '../../core/errors.ts';
import { readObject } from '../../resources/fields/parse-body.ts';
import { cursorsOf, limitOf } from '../../sessions/page-query.ts';
import type { HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import type { Delivery } from '../../webhooks/delivery.ts';
import type { SigningSecrets } from '../../webhooks/signing-secrets.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import { forOrganization } from './organization-routes.ts';
import type { OrganizationDeps, OrganizationNeed } from './organization-routes.ts';
import { originOf } from '../../audit/origin-of.ts';
import { segmentsBelow } from '../http/resource-exchange.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { WEBHOOK_DELIVERIES_PATH } from './outlines.ts';
import type { WEBHOOK_ROUTES } from './outlines.ts';

export interface WebhookRoutesDeps extends OrganizationDeps {
  readonly webhooks: Pick<Webhooks, 'find' | 'list' | 'redeliver'>;
  readonly secrets: Pick<SigningSecrets, 'rotate'>;
}

/** Delivery after which the list continues. */
const PLACE = /^msg_\w{1,100}$/;
const MAX_PAGE = 100;
const READ: OrganizationNeed = { scope: 'run', use: 'read' };

/**
 * Handlers of the signing secret, for keys with the scope `credentials`, and of the log of deliveries,
 * for keys with the scope `run` (requirement run.webhook.delivered).
 */
export function webhookHandlers(deps: WebhookRoutesDeps): HandlersOf<typeof WEBHOOK_ROUTES> {
  const { webhooks, secrets } = deps;
  const rotate = forOrganization(
    { scope: 'credentials', use: 'write' },
    deps,
    async (exchange, principal) => {
      const { organizationId: organization, keyId } = principal;
      await refuseInput(exchange, keyId, deps);
      const { secret, at, formerUntil } = await secrets.rotate(organization, (ops) =>
        deps.repository.audit.commit(ops, {
          origin: originOf(exchange, principal),
          action: 'rotate',
          object: { kind: 'webhook_secret', id: organization, name: null },
          organization,
          changes: [{ path: 'secret', old: MASK, new: MASK }],
        }),
      );
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: {
          type: 'webhook_secret',
          secret,
          created_at: toTime(at),
          previous_valid_until: formerUntil === null ? null : toTime(formerUntil),
        },
      };
    },
  );
  const list = forOrganization(READ, deps, async ({ search }, { organizationId }) => {
    const query = new URLSearchParams(search);
    const limit = limitOf(query, MAX_PAGE);
    const cursors = cursorsOf(['webhook-deliveries', organizationId], PLACE);
    // One more than asked for shows whether there is a next page.
    const page = { after: cursors.read(query), limit: limit + 1 };
    const found = await webhooks.list(organizationId, page);
    const data = found.slice(0, limit);
    const last = data.at(-1);
    const nextPage = found.length > limit && last ? cursors.write(last.id) : null;
    return ok({ data: data.map(toDeliveryView), next_page: nextPage });
  });
  const get = forOrganization(READ, deps, async ({ path }, { organizationId }) =>
    ok(toDeliveryView(await webhooks.find(organizationId, idOf(path)))),
  );
  const redeliver = forOrganization(
    { scope: 'run', use: 'call' },
    deps,
    async (exchange, { organizationId, keyId }) => {
      await refuseInput(exchange, keyId, deps);
      const { named } = exchange;
      const toReply = (delivery: Delivery): Reply => ({
        status: 202,
        body: toDeliveryView(delivery),
      });
      const also = named && ((delivery: Delivery) => named.answered(toReply(delivery)));
      return toReply(await webhooks.redeliver(organizationId, idOf(exchange.path), also));
    },
  );
  return { rotate, list, get, redeliver };
}

/** A delivery as its organization sees it; `id` is the `webhook-id` of every attempt. */
export interface DeliveryView {
  readonly id: string;
  readonly type: 'webhook_delivery';
  readonly event: string;
  readonly subject: string;
  readonly url: string;
  readonly status: Delivery['status'];
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly outcome: string;
    readonly ms: number;
  }[];
  readonly created_at: string;
}

function toDeliveryView(delivery: Delivery): DeliveryView {
  const { id, type: event, subject, shownUrl: url, status, attempts, at } = delivery;
  return {
    id,
    type: 'webhook_delivery',
    event,
    subject,
    url,
    status,
    attempts: attempts.map((attempt) => ({ ...attempt, at: toTime(attempt.at) })),
    created_at: toTime(at),
  };
}

function idOf(path: string): string {
  return segmentsBelow(WEBHOOK_DELIVERIES_PATH, path)[0] ?? '';
}

async function refuseInput(
  exchange: HttpExchange,
  holder: string,
  { maxBodyBytes: limit, resourceValues: values }: WebhookRoutesDeps,
): Promise<void> {
  const bytes = await readBody(exchange, { limit, holder });
  const body = await readObject(bytes, { optional: true, values });
  const [param] = Object.keys(body);
  if (param === undefined) return;
  const message = `${param}: expected an empty body or {}`;
  throw new GatewayError('invalid_request', { message, param });
}

const ok = (body: object): Reply => ({ status: 200, body });

const toTime = (ms: number): string => new Date(ms).toISOString();
