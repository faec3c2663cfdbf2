import { anything, list, pageOf, schemaRef, words } from './schemas.ts';
import type { JsonSchema } from './schemas.ts';

/** Input and output of one operation. */
export interface OperationDoc {
  readonly summary: string;
  /** Default 200; several where the answer may come later. */
  readonly status?: number | readonly number[];
  /** Absent: none is taken. */
  readonly body?: JsonSchema;
  /** True: a body may be left out. */
  readonly bodyOptional?: boolean;
  /** Media types of the body. Default: `json`. */
  readonly takes?: 'json' | 'form' | 'json-or-form' | 'json-or-yaml';
  /** Absent: no JSON is promised. */
  readonly answer?: JsonSchema;
  /** Other media types of the answer. */
  readonly also?: readonly string[];
  /** Parameters of the query. */
  readonly query?: readonly string[];
  /** True: failures of the protocol that is spoken there are JSON-RPC's. */
  readonly rpc?: boolean;
}

export const PAGING = ['limit', 'page'] as const;
const EVENTS = ['text/event-stream'];
const NDJSON = ['application/x-ndjson'];
const BYTES = ['application/octet-stream'];
/** Statuses of a call that asks for no answer, which is accepted with 202. */
const RPC = { status: [200, 202], rpc: true } as const;

const ask = (summary: string, body: string, answer: string): OperationDoc => ({
  summary,
  body: schemaRef(body),
  answer: schemaRef(answer),
});
const read = (summary: string, answer: string, query: readonly string[] = []): OperationDoc => ({
  summary,
  answer: schemaRef(answer),
  query,
});
const page = (summary: string, item: string, query: readonly string[] = []): OperationDoc => ({
  summary,
  answer: pageOf(schemaRef(item)),
  query: [...PAGING, ...query],
});
const generate = ask('Generate content', 'GenerateContentRequest', 'GenerateContentResponse');
const countTokens = ask('Count tokens', 'GenerateContentRequest', 'GoogleTokenCount');
/** Pieces form a list, which grows as they come, unless `alt=sse` is asked for. */
const streamed: OperationDoc = {
  ...generate,
  summary: 'Stream content',
  answer: list(schemaRef('GenerateContentResponse')),
  query: ['alt'],
  also: EVENTS,
};
const callApi: OperationDoc = { summary: 'Call an API', answer: anything, also: ['*/*'] };
const sendToApi: OperationDoc = { ...callApi, body: anything, bodyOptional: true };
const interact = {
  ...ask('Create an Interaction', 'InteractionRequest', 'Interaction'),
  also: EVENTS,
};
const interaction = read('Read an Interaction', 'Interaction', ['stream']);
const createVideo = ask('Submit a video task', 'VideoRequest', 'Video');
const trigger: OperationDoc = {
  summary: 'Run a Schedule now',
  body: schemaRef('EmptyBody'),
  bodyOptional: true,
  answer: schemaRef('DeploymentRun'),
};
const updateSession: OperationDoc = {
  summary: 'Change a Session',
  body: { type: 'object' },
  answer: schemaRef('Session'),
};
const RUNS_QUERY = words(
  'trigger_type status has_error agent_id deployment_id created_at[gt] created_at[gte] created_at[lt] created_at[lte]',
);

/** Description of each operation beyond its path; the resources declare theirs themselves. */
export const OPERATIONS: Readonly<Record<string, OperationDoc>> = {
  'POST /v1/chat/completions': {
    ...ask('Complete a chat', 'ChatRequest', 'ChatCompletion'),
    also: EVENTS,
  },
  'POST /v1/responses': {
    ...ask('Create a response', 'ResponsesRequest', 'Response'),
    also: EVENTS,
  },
  'POST /v1/responses/input_tokens': ask(
    'Count the tokens of a response',
    'ResponsesRequest',
    'ResponseTokenCount',
  ),
  'POST /v1/responses/compact': ask(
    'Compact a conversation',
    'ResponsesRequest',
    'CompactedResponse',
  ),
  'GET /v1/responses/{id}': {
    ...read(
      'Read a response that its provider keeps',
      'Response',
      words('include include_obfuscation stream starting_after'),
    ),
    also: EVENTS,
  },
  'DELETE /v1/responses/{id}': read('Delete a response', 'ResponseDeleted'),
  'POST /v1/responses/{id}/cancel': {
    ...ask('Cancel a response in the background', 'EmptyBody', 'Response'),
    bodyOptional: true,
  },
  'GET /v1/responses/{id}/input_items': read(
    'List the input of a response',
    'ResponseItemList',
    words('after before limit order include'),
  ),
  'POST /v1/embeddings': ask('Embed texts', 'EmbeddingsRequest', 'Embeddings'),
  'POST /v1/images/generations': ask('Generate images', 'ImagesRequest', 'Images'),
  'POST /v1/images/edits': {
    ...ask('Edit images', 'ImageEditsRequest', 'Images'),
    takes: 'form',
  },
  'POST /v1/messages': { ...ask('Create a message', 'MessagesRequest', 'Message'), also: EVENTS },
  'POST /v1/messages/count_tokens': {
    ...ask('Count the tokens of a message', 'MessagesRequest', 'TokenCount'),
    body: { type: 'object' },
  },
  'POST /v1beta/models/{model}:generateContent': generate,
  'POST /v1beta/models/{model}:streamGenerateContent': streamed,
  'POST /v1beta/models/{model}:countTokens': countTokens,
  'POST /v1/models/{model}:generateContent': generate,
  'POST /v1/models/{model}:streamGenerateContent': streamed,
  'POST /v1/models/{model}:countTokens': countTokens,
  'POST /v1beta/interactions': interact,
  'POST /v1/interactions': interact,
  'GET /v1beta/interactions/{id}': interaction,
  'GET /v1/interactions/{id}': interaction,
  'GET /v1/models': read('List models', 'ModelList', ['q', 'vendor', 'type', 'order', 'details']),
  'GET /v1/models/{id}': read('Read a model', 'ModelItem'),
  'GET /v1beta/models': read('List models', 'GoogleModelList', ['pageSize', 'pageToken']),
  'GET /v1beta/models/{id}': read('Read a model', 'GoogleModel'),
  'POST /v1/videos': { ...createVideo, takes: 'json-or-form' },
  'GET /v1/videos': read('List video tasks', 'VideoList', ['limit', 'after', 'order']),
  'GET /v1/videos/{id}': read('Read a video task', 'Video'),
  'GET /v1/videos/{id}/content': { summary: 'Download a video', also: BYTES },
  'DELETE /v1/videos/{id}': read('Delete a video task', 'Video'),
  'POST /v1/contents/generations/tasks': createVideo,
  'GET /v1/contents/generations/tasks': { summary: 'List video tasks', answer: { type: 'object' } },
  'GET /v1/contents/generations/tasks/{id}': read('Read a video task', 'Video'),
  'DELETE /v1/contents/generations/tasks/{id}': {
    summary: 'Delete a video task',
    answer: { type: 'object' },
  },
  'POST /v1/run': { ...ask('Run a model or an API', 'RunRequest', 'Run'), status: [200, 202] },
  'GET /v1/run/{id}': read('Read a run', 'Run'),
  'GET /v1/tasks/{id}': read('Read the state and cost of a task', 'Task'),
  'GET /v1/api/{vendor}': callApi,
  'POST /v1/api/{vendor}': sendToApi,
  'GET /v1/api/{vendor}/{upstream_path}': callApi,
  'POST /v1/api/{vendor}/{upstream_path}': sendToApi,
  'POST /v1/assets': { ...ask('Register media', 'AssetRequest', 'Asset'), status: 201 },
  'GET /v1/assets/{id}': read('Read an Asset', 'Asset'),
  'GET /v1/assets/{id}/content': { summary: 'Download an Asset by a signed link', also: BYTES },
  'HEAD /v1/assets/{id}/content': { summary: 'Look at an Asset by a signed link' },
  'POST /v1/webhooks/secret/rotate': {
    summary: 'Replace the signing secret of webhooks',
    body: schemaRef('EmptyBody'),
    bodyOptional: true,
    answer: schemaRef('WebhookSecret'),
  },
  'GET /v1/webhooks/deliveries': page('List webhook deliveries', 'WebhookDelivery'),
  'GET /v1/webhooks/deliveries/{id}': read('Read a webhook delivery', 'WebhookDelivery'),
  'POST /v1/webhooks/deliveries/{id}/redeliver': {
    summary: 'Deliver a webhook again',
    status: 202,
    body: schemaRef('EmptyBody'),
    bodyOptional: true,
    answer: schemaRef('WebhookDelivery'),
  },
  'GET /v1/account/key': read('Read whom the gateway takes the key for', 'OwnKey'),
  'GET /v1/account/sso': read('Read with which provider people sign in', 'Sso'),
  'POST /v1/account/sso/device': {
    summary: 'Begin the sign-in of a person',
    status: 201,
    body: schemaRef('EmptyBody'),
    bodyOptional: true,
    answer: schemaRef('SsoDevice'),
  },
  'POST /v1/account/sso/key': {
    ...ask('Take the key of a person who signed in', 'SsoKeyRequest', 'SsoKey'),
    status: [201, 202],
  },
  'DELETE /v1/account/sso/key': { summary: 'End the key of a sign-in', status: 204 },
  'GET /v1/account/balance': read('Read the balance', 'Balance'),
  'GET /v1/account/usage': {
    ...page('Read sums of use', 'UsageRow'),
    query: words('group_by month from to conversation limit'),
  },
  'GET /v1/account/budgets': page('Read what is spent of budgets', 'BudgetSpending'),
  'GET /v1/account/executions': page(
    'List calls, newest first',
    'Execution',
    words('key model conversation status from to'),
  ),
  'GET /v1/account/executions/events': {
    summary: 'Follow calls as they begin and end',
    query: words('key model conversation status from to limit'),
    also: EVENTS,
  },
  'GET /v1/account/executions/{id}': read('Read a call', 'Execution'),
  'GET /v1/sessions': page('List Sessions', 'Session'),
  'POST /v1/sessions': { ...ask('Create a Session', 'SessionRequest', 'Session'), status: 201 },
  'GET /v1/sessions/{id}': read('Read a Session', 'Session'),
  'POST /v1/sessions/{id}': updateSession,
  'PATCH /v1/sessions/{id}': updateSession,
  'DELETE /v1/sessions/{id}': read('Delete a Session', 'SessionDeleted'),
  'POST /v1/sessions/{id}/archive': read('Archive a Session', 'Session'),
  'GET /v1/sessions/{id}/events': page('Read the events of a Session', 'SessionEvent', ['order']),
  'POST /v1/sessions/{id}/events': {
    summary: 'Send events to a Session',
    body: schemaRef('SessionEventsRequest'),
    answer: { type: 'object' },
  },
  'GET /v1/sessions/{id}/events/stream': {
    summary: 'Follow the events of a Session',
    also: EVENTS,
  },
  'POST /v1/endpoints/{id}/run': {
    ...ask('Invoke a Service', 'ServiceRunRequest', 'ServiceRun'),
    status: 202,
  },
  'POST /v1/endpoints/{id}/mcp': {
    summary: 'Speak MCP to a Service',
    body: schemaRef('JsonRpcMessages'),
    answer: schemaRef('JsonRpcMessages'),
    also: [...EVENTS, ...NDJSON],
    ...RPC,
  },
  'GET /v1/endpoints/{id}/mcp': {
    summary: 'Open the event stream of an MCP session, or go on with that of a call',
    status: [200, 204],
    also: EVENTS,
    rpc: true,
  },
  'DELETE /v1/endpoints/{id}/mcp': { summary: 'Close an MCP transport', status: 204, rpc: true },
  'POST /v1/endpoints/{id}/acp': {
    ...ask('Speak ACP to a Service', 'JsonRpcMessage', 'JsonRpcMessage'),
    also: NDJSON,
    ...RPC,
  },
  'POST /v1/deployments/{id}/runs': trigger,
  'POST /v1/deployments/{id}/run': trigger,
  'GET /v1/deployments/{id}/runs': page('List the runs of a Schedule', 'DeploymentRun', RUNS_QUERY),
  'GET /v1/deployments/{id}/runs/{run}': read('Read a decided run', 'DeploymentRun'),
  'POST /v1/deployments/{id}/notifications/chat/test': {
    summary: 'Send a test message to the chat webhook',
    body: schemaRef('EmptyBody'),
    bodyOptional: true,
    answer: schemaRef('Delivered'),
  },
  'GET /v1/deployment_runs': page('List runs', 'DeploymentRun', RUNS_QUERY),
  'GET /v1/deployment_runs/{id}': read('Read a run', 'DeploymentRun'),
};

/** Values of a wildcard, where it is more than an id. */
export const WILDCARDS: Readonly<Record<string, readonly string[]>> = {
  'POST /v1beta/models/**': generateContentPaths('/v1beta'),
  'POST /v1/models/**': generateContentPaths('/v1'),
  'GET /v1/videos/**': ['/v1/videos/{id}', '/v1/videos/{id}/content'],
  'GET /v1/assets/**': ['/v1/assets/{id}', '/v1/assets/{id}/content'],
  'HEAD /v1/assets/**': ['/v1/assets/{id}/content'],
  'GET /v1/api/:vendor/**': ['/v1/api/{vendor}/{upstream_path}'],
  'POST /v1/api/:vendor/**': ['/v1/api/{vendor}/{upstream_path}'],
};

function generateContentPaths(version: string): string[] {
  const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];
  return methods.map((method) => `${version}/models/{model}:${method}`);
}

/** Operations below resources, by the name that their declaration gives them. */
export const CHILDREN: Readonly<Record<string, Readonly<Record<string, OperationDoc>>>> = {
  'skill versions': {
    'GET ': { summary: 'List versions', answer: pageOf({ type: 'object' }), query: PAGING },
    'POST ': {
      summary: 'Add a version',
      body: { type: 'object' },
      takes: 'json-or-form',
      answer: { type: 'object' },
      status: 201,
    },
    'GET /{version}': { summary: 'Read a version', answer: { type: 'object' } },
    'DELETE /{version}': { summary: 'Delete a version', answer: { type: 'object' } },
    'GET /{version}/content': { summary: 'Download a version', also: BYTES },
  },
  'file content': { 'GET ': { summary: 'Download a file', also: BYTES } },
};
