import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import type { Envelope } from '../../protocols/family.ts';
import { RUN_PATH, TASKS_PATH } from '../../tasks/task-paths.ts';
import type { Method } from '../http/routes.ts';
import type { RouteOutline } from './lazy-routes.ts';

// Tables of the routes whose handlers are loaded at the first request.

export const SESSIONS_PATH = '/v1/sessions';
export const SERVICES_PATH = '/v1/endpoints';
export const DEPLOYMENTS_PATH = '/v1/deployments';
export const DEPLOYMENT_RUNS_PATH = '/v1/deployment_runs';
export const WEBHOOK_DELIVERIES_PATH = '/v1/webhooks/deliveries';
export const EXECUTIONS_PATH = '/v1/account/executions';
export const ADMIN_REQUESTS_PATH = '/admin/v1/requests';
export const ADMIN_AUDIT_PATH = '/admin/v1/audit';

/** `/v1/sessions` and below, for keys with the scope `sessions` (contract: Sessions). */
export const SESSION_ROUTES = toOutline({
  [SESSIONS_PATH]: { GET: 'list', POST: 'create' },
  [`${SESSIONS_PATH}/:id`]: { GET: 'get', POST: 'update', PATCH: 'update', DELETE: 'remove' },
  [`${SESSIONS_PATH}/:id/archive`]: { POST: 'archive' },
  [`${SESSIONS_PATH}/:id/events`]: { GET: 'listEvents', POST: 'send' },
  [`${SESSIONS_PATH}/:id/events/stream`]: { GET: 'stream' },
});

/** The three ways to call a Service, for keys with the scope `endpoints` (contract: Services). */
export const SERVICE_ROUTES = toOutline({
  [`${SERVICES_PATH}/:id/run`]: { POST: 'run' },
  [`${SERVICES_PATH}/:id/mcp`]: { GET: 'listenMcp', POST: 'postMcp', DELETE: 'closeMcp' },
  [`${SERVICES_PATH}/:id/acp`]: { POST: 'postAcp' },
  // The one that is read here is a stream without an end.
}).map((route) => ({ ...route, refusesHead: true }));

/**
 * Routes of actions on Schedules and of their runs, for keys with the scope `deployments`
 * (contract: Schedules); the Schedules themselves are served as every kind is.
 */
export const DEPLOYMENT_ROUTES = toOutline({
  [`${DEPLOYMENTS_PATH}/:id/runs`]: { GET: 'listOfOne', POST: 'trigger' },
  [`${DEPLOYMENTS_PATH}/:id/run`]: { POST: 'trigger' },
  [`${DEPLOYMENTS_PATH}/:id/runs/:run`]: { GET: 'getDecided' },
  [`${DEPLOYMENTS_PATH}/:id/notifications/chat/test`]: { POST: 'testNotification' },
  [DEPLOYMENT_RUNS_PATH]: { GET: 'listAll' },
  [`${DEPLOYMENT_RUNS_PATH}/:id`]: { GET: 'get' },
});

/**
 * The signing secret, for keys with the scope `credentials`, and the log of deliveries, for keys with
 * the scope `run` (requirement run.webhook.delivered).
 */
export const WEBHOOK_ROUTES = toOutline({
  '/v1/webhooks/secret/rotate': { POST: 'rotate' },
  [WEBHOOK_DELIVERIES_PATH]: { GET: 'list' },
  [`${WEBHOOK_DELIVERIES_PATH}/:id`]: { GET: 'get' },
  [`${WEBHOOK_DELIVERIES_PATH}/:id/redeliver`]: { POST: 'redeliver' },
});

/** `POST /v1/run` and `GET /v1/run/{id}`, for the scope `run`, and the status of any task. */
export const RUN_ROUTES = toOutline(
  {
    [RUN_PATH]: { POST: 'create' },
    [`${RUN_PATH}/:id`]: { GET: 'get' },
    [`${TASKS_PATH}/:id`]: { GET: 'task' },
  },
  'flat',
);

/**
 * Routes by which keys with the scope `account` see their organization's account (requirement
 * account.lookups).
 */
export const ACCOUNT_ROUTES = toOutline({
  '/v1/account/balance': { GET: 'balance' },
  '/v1/account/usage': { GET: 'usage' },
  '/v1/account/budgets': { GET: 'budgets' },
  [EXECUTIONS_PATH]: { GET: 'list' },
  [`${EXECUTIONS_PATH}/:id`]: { GET: 'get' },
});

/** Reports under `/admin/v1`, for keys with the scope `admin`. */
export const REPORT_ROUTES = toOutline({
  '/admin/v1/usage': { GET: 'usage' },
  '/admin/v1/routing': { GET: 'routing' },
  '/admin/v1/spending': { GET: 'spending' },
  '/admin/v1/spending/budgets': { GET: 'budgets' },
  '/admin/v1/status': { GET: 'status' },
  [ADMIN_REQUESTS_PATH]: { GET: 'requests' },
  [`${ADMIN_REQUESTS_PATH}/:id`]: { GET: 'request' },
  [ADMIN_AUDIT_PATH]: { GET: 'audit' },
  [`${ADMIN_AUDIT_PATH}/verify`]: { GET: 'verifyAudit' },
  [`${ADMIN_AUDIT_PATH}/:id`]: { GET: 'auditEntry' },
});

/**
 * Streams of requests as they begin and end: of everyone for keys with the scope `admin`, of their own
 * organization for keys with the scope `account`.
 */
export const REQUEST_STREAM_ROUTES = toOutline({
  [`${ADMIN_REQUESTS_PATH}/events`]: { GET: 'followAll' },
  [`${EXECUTIONS_PATH}/events`]: { GET: 'followOwn' },
});

/** Links that sign a browser in to the console, for keys with the scope `admin`. */
export const CONSOLE_ROUTES = toOutline({ '/admin/v1/console/links': { POST: 'createLink' } });

/** Sign-in of people by the OpenID provider, without a credential: there is no key yet. */
export const SSO_ROUTES = toOutline({
  '/v1/account/sso': { GET: 'tellSso' },
  '/v1/account/sso/device': { POST: 'startDevice' },
  '/v1/account/sso/key': { POST: 'takeKey', DELETE: 'endKey' },
});

/** Findings and plans for files of configuration, for keys with the scope `admin`. */
export const CONFIGURATION_ROUTES = toOutline({
  '/admin/v1/configuration/plan': { POST: 'planFiles' },
  '/admin/v1/configuration/secrets': { POST: 'compareSecrets' },
});

/** The list of published prices, for keys with the scope `admin`. */
export const PRICE_ROUTES = toOutline({
  '/admin/v1/prices': { GET: 'prices', PUT: 'keepPrices', DELETE: 'dropPrices' },
});

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Routes of every kind under `/admin/v1`, for keys with the scope `admin` (requirement
 * keys.admin.separate-surface); the names are those of the kinds.
 */
export function adminKindRoutes(definitions: readonly ResourceDefinition[]): KindRoute[] {
  return definitions.flatMap(({ path, kind }) => kindRoutes(path, kind));
}

/**
 * Routes of an organization's own resources below `/v1`, for keys with the scope of the kind; the names
 * are those of the kinds.
 */
export function organizationKindRoutes(definitions: readonly ResourceDefinition[]): KindRoute[] {
  return definitions.flatMap(({ kind, api }) => {
    if (!api) return [];
    const { path, dialects } = api;
    const routes = kindRoutes(path, kind);
    if (!dialects) return routes;
    return routes.map((route) => ({
      ...route,
      envelopeOf: (headers) => dialects.of(headers).envelope,
    }));
  });
}

type KindRoute = RouteOutline<string>;

function kindRoutes(path: string, kind: string): KindRoute[] {
  const methods = Object.fromEntries(METHODS.map((method) => [method, kind]));
  return [path, `${path}/**`].map((at) => ({ path: at, envelope: 'resource', methods }));
}

type Table = Readonly<Record<string, { readonly [M in Method]?: string }>>;
type ValuesOf<Item> = Item extends unknown ? Item[keyof Item] : never;
type NamesOf<Paths> = Extract<ValuesOf<ValuesOf<Paths>>, string>;

function toOutline<const Paths extends Table>(
  table: Paths,
  envelope: Envelope = 'resource',
): RouteOutline<NamesOf<Paths>>[] {
  return Object.entries(table).map(([path, methods]) => ({
    path,
    envelope,
    methods: methods as RouteOutline<NamesOf<Paths>>['methods'],
  }));
}
