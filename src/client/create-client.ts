import type { Collection } from '../core/kinds.ts';
import { createAccountClient, type AccountClient } from './account.ts';
import { createAdminClient, type AdminClient } from './admin.ts';
import { createAssetsClient, type AssetsClient } from './assets.ts';
import { createAuditClient, type AuditClient } from './audit.ts';
import { createChatClient, type ChatClient } from './chat.ts';
import { createConsoleClient, type ConsoleClient } from './console.ts';
import { createDeploymentRunsClient, type DeploymentRunsClient } from './deployment-runs.ts';
import { createDeploymentsClient, type DeploymentsClient } from './deployments.ts';
import { createHttp, type HttpAnswer, type HttpCall, type HttpOptions } from './http/http.ts';
import { createModelsClient, type ModelsClient } from './models.ts';
import { createOperatorsClient, type OperatorsClient } from './operators.ts';
import { createRequestsClient, type RequestsClient } from './requests.ts';
import { createRunsClient, createTasksClient, type RunsClient, type TasksClient } from './runs.ts';
import { createServicesClient, type ServicesClient } from './services.ts';
import { createSessionsClient, type SessionsClient } from './sessions.ts';
import { createUsageClient, type UsageClient } from './usage.ts';
import { createWebhooksClient, type WebhooksClient } from './webhooks.ts';

/** Address and key of the gateway, and how its calls are sent and repeated. */
export type ClientOptions = HttpOptions;

/** Kinds of resources, by the last segment of their admin paths. */
export type AdminKind = Collection;

/** Typed access to one gateway; every failure is a `ClientError`. */
export interface Client {
  readonly baseUrl: string;
  readonly assets: AssetsClient;
  readonly account: AccountClient;
  readonly audit: AuditClient;
  readonly chat: ChatClient;
  readonly console: ConsoleClient;
  readonly deployments: DeploymentsClient;
  readonly deploymentRuns: DeploymentRunsClient;
  readonly models: ModelsClient;
  readonly operators: OperatorsClient;
  readonly requests: RequestsClient;
  readonly runs: RunsClient;
  readonly services: ServicesClient;
  readonly sessions: SessionsClient;
  readonly tasks: TasksClient;
  readonly usage: UsageClient;
  readonly webhooks: WebhooksClient;
  /** The resources below `/admin/v1/<kind>`; needs a key with the scope `admin`. */
  admin(kind: AdminKind): AdminClient;
  /** Any call, with the body of the answer as text. */
  raw(call: HttpCall): Promise<HttpAnswer<string>>;
  /** The same with the body as it is, which may be no text. */
  rawBytes(call: HttpCall): Promise<HttpAnswer<Uint8Array>>;
}

/**
 * Client of one gateway; opens no connection before the first call.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createClient, systemClock } from 'agent-gateway';
 *
 * const client = createClient({
 *   baseUrl: 'http://127.0.0.1:8787',
 *   apiKey: (await readFile('.gateway/admin.key', 'utf8')).trim(),
 *   clock: systemClock,
 * });
 * for await (const { id, name } of client.admin('models').list()) console.log(id, name);
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const http = createHttp(options);
  const { clock, random = Math.random } = options;
  const sessions = createSessionsClient({ http, clock, random });
  return {
    baseUrl: options.baseUrl,
    assets: createAssetsClient(http),
    account: createAccountClient(http),
    audit: createAuditClient({ http, clock }),
    chat: createChatClient(http),
    console: createConsoleClient(http, options.baseUrl),
    deployments: createDeploymentsClient(http),
    deploymentRuns: createDeploymentRunsClient({ http, clock, random, sessions }),
    models: createModelsClient(http),
    operators: createOperatorsClient(http),
    requests: createRequestsClient({ http, clock }),
    runs: createRunsClient({ http, clock, random }),
    services: createServicesClient({ http, clock, random }),
    sessions,
    tasks: createTasksClient(http),
    usage: createUsageClient(http),
    webhooks: createWebhooksClient(http),
    admin: (kind) => createAdminClient(http, `/admin/v1/${kind}`),
    raw: (call) => http.text(call),
    rawBytes: (call) => http.bytes(call),
  };
}
