import { DECLARED } from '../../core/kinds.ts';

/** Every call that the console makes, as the OpenAPI documents of the gateway name it. */
export const CALLS = [
  ...DECLARED.map((collection) => `GET /admin/v1/${collection}` as const),
  'GET /admin/v1/audit',
  'POST /admin/v1/configuration/plan',
  'POST /admin/v1/keys',
  'POST /admin/v1/keys/{id}/revoke',
  'POST /admin/v1/keys/{id}/rotate',
  'GET /admin/v1/requests',
  'GET /admin/v1/requests/events',
  'GET /admin/v1/requests/{id}',
  'GET /admin/v1/routing',
  'GET /admin/v1/spending',
  'GET /admin/v1/spending/budgets',
  'GET /admin/v1/status',
  'GET /admin/v1/usage',
  'GET /v1/account/balance',
  'GET /v1/account/budgets',
  'GET /v1/account/executions',
  'GET /v1/account/executions/events',
  'GET /v1/account/executions/{id}',
  'GET /v1/account/sso',
  'GET /v1/account/usage',
  'GET /v1/agents',
  'POST /v1/chat/completions',
  'GET /v1/deployment_runs',
  'GET /v1/deployments',
  'POST /v1/deployments/{id}/pause',
  'POST /v1/deployments/{id}/runs',
  'POST /v1/deployments/{id}/unpause',
  'GET /v1/endpoints',
  'POST /v1/endpoints/{id}/run',
  'POST /v1/messages',
  'GET /v1/models',
  'POST /v1/responses',
  'GET /v1/sessions',
  'GET /v1/sessions/{id}',
  'POST /v1/sessions/{id}/archive',
  'GET /v1/sessions/{id}/events',
  'POST /v1/sessions/{id}/events',
  'GET /v1/sessions/{id}/events/stream',
  'POST /v1beta/models/{model}:generateContent',
  'POST /v1beta/models/{model}:streamGenerateContent',
] as const;

type Filled<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Path;
type PathOf<Call, Method extends string> = Call extends `${Method} ${infer Path}`
  ? Filled<Path>
  : never;

/** Path of a call that the console makes with a method; another one does not compile. */
export type ApiPath<Method extends 'GET' | 'POST'> = PathOf<(typeof CALLS)[number], Method>;

/** The same for the calls of the playground, which may ask for a stream by their query. */
export type WirePath = ApiPath<'POST'> | `${ApiPath<'POST'>}?alt=sse`;
