import { ROLES } from '../../core/access.ts';
import type { Envelope, EnvelopeName } from '../../protocols/family.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const number = { type: 'number' };
const instant = { type: 'string', format: 'date-time' };
const money = { type: 'string', pattern: '^-?\\d+\\.\\d{2,9}$' };
export const anything: JsonSchema = {};

/** Splits names in a row, which a list of texts would spread over many lines. */
export const words = (names: string): string[] => names.split(' ');

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const only = (value: string): JsonSchema => ({ type: 'string', const: value });
const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values });

/** An object with these members, all required but the `optional` ones; others may be there. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

export const pageOf = (item: JsonSchema): JsonSchema =>
  object({ data: list(item), next_page: orNull(text) });

const MODEL = { model: { ...text, minLength: 1 } };
const STREAM = { stream: flag };
const USAGE = object({
  input_tokens: count,
  cache_read_tokens: count,
  cache_write_5m_tokens: count,
  cache_write_1h_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  images: count,
  seconds: number,
});
const WINDOW = object({ limit: orNull(money), spent: money });

/** Schemas of operations for which no resource is declared (contract: Endpoints). */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ChatRequest: object({ ...MODEL, messages: list({ type: 'object' }), ...STREAM }, ['stream']),
  ChatCompletion: object({ id: text, object: text, choices: list({ type: 'object' }) }),
  ResponsesRequest: object({ ...MODEL, input: anything, ...STREAM }, ['input', 'stream']),
  Response: object({ id: text, object: only('response'), status: text, output: list(anything) }),
  ResponseTokenCount: object({ object: only('response.input_tokens'), input_tokens: count }),
  CompactedResponse: object({
    id: text,
    object: only('response.compaction'),
    output: list(anything),
  }),
  ResponseDeleted: object({ id: text, deleted: { type: 'boolean', const: true } }),
  ResponseItemList: object({
    object: only('list'),
    data: list({ type: 'object' }),
    has_more: flag,
  }),
  EmbeddingsRequest: object({ ...MODEL, input: anything }),
  Embeddings: object({ object: only('list'), data: list(object({ index: count })), model: text }),
  ImagesRequest: object({ ...MODEL, prompt: text }, ['prompt']),
  ImageEditsRequest: object({ ...MODEL, prompt: text, image: anything }, ['prompt', 'image']),
  Images: object({ data: list({ type: 'object' }), usage: { type: 'object' } }, ['usage']),
  MessagesRequest: object(
    {
      ...MODEL,
      max_tokens: { type: 'integer', minimum: 1 },
      messages: list(object({ role: text, content: { type: ['string', 'array'] } })),
      system: { type: ['string', 'array'] },
      temperature: { type: 'number', minimum: 0, maximum: 1 },
      top_p: { type: 'number', minimum: 0, maximum: 1 },
      top_k: count,
      stop_sequences: list(text),
      ...STREAM,
      metadata: { type: 'object' },
      tools: list({ type: 'object' }),
      tool_choice: { type: 'object' },
      thinking: { type: 'object' },
    },
    words(
      'system temperature top_p top_k stop_sequences stream metadata tools tool_choice thinking',
    ),
  ),
  Message: object({ id: text, type: only('message'), role: text, content: list(anything) }),
  TokenCount: object({ input_tokens: count }),
  GenerateContentRequest: object(
    {
      contents: anything,
      systemInstruction: anything,
      generationConfig: { type: 'object' },
      tools: anything,
      toolConfig: { type: 'object' },
      safetySettings: anything,
      cachedContent: text,
    },
    words(
      'contents systemInstruction generationConfig tools toolConfig safetySettings cachedContent',
    ),
  ),
  GenerateContentResponse: object({ candidates: list({ type: 'object' }) }, ['candidates']),
  GoogleTokenCount: object({ totalTokens: count }),
  InteractionRequest: object(
    {
      ...MODEL,
      input: { type: ['string', 'object', 'array'] },
      ...STREAM,
      background: flag,
      previous_interaction_id: text,
      store: flag,
    },
    ['stream', 'background', 'previous_interaction_id', 'store'],
  ),
  Interaction: object({ id: text, status: text }),
  VideoRequest: object({ ...MODEL, prompt: text }, ['prompt']),
  Video: object({ id: text, status: text }, ['status']),
  VideoList: object({ data: list({ type: 'object' }) }, ['data']),
  ModelItem: object({ id: text, object: only('model'), created: count, owned_by: text }),
  ModelList: object({ object: only('list'), data: list(schemaRef('ModelItem')) }),
  GoogleModel: object({ name: text }),
  GoogleModelList: object({ models: list(schemaRef('GoogleModel')) }),
  RunRequest: object(
    { ...MODEL, input: anything, webhook_url: text, async: flag },
    words('model input webhook_url async'),
  ),
  Run: object({
    id: text,
    object: only('run'),
    model: text,
    status: text,
    output: anything,
    error: orNull({ type: 'object' }),
    usage: orNull({ type: 'object' }),
    created_at: instant,
    completed_at: orNull(instant),
  }),
  Task: object({ id: text, status: text }),
  AssetRequest: object(
    { url: text, asset_type: oneOf('Image', 'Video', 'Audio'), name: orNull(text) },
    ['name'],
  ),
  Asset: object(
    {
      id: text,
      external_id: text,
      asset_url: { type: 'string', pattern: '^asset://' },
      status: text,
      asset_type: oneOf('Image', 'Video', 'Audio'),
      name: orNull(text),
      download_url: orNull(text),
      created_at: instant,
    },
    ['external_id', 'status', 'download_url', 'name'],
  ),
  WebhookSecret: object({
    type: only('webhook_secret'),
    secret: text,
    created_at: instant,
    previous_valid_until: orNull(instant),
  }),
  WebhookDelivery: object({
    id: text,
    type: only('webhook_delivery'),
    event: text,
    subject: text,
    url: text,
    status: text,
    attempts: list(object({ at: instant, status: orNull(count), outcome: text, ms: number })),
    created_at: instant,
  }),
  OwnKey: object({
    id: text,
    type: only('own_key'),
    name: text,
    organization: object({ id: text, name: text }),
    scopes: orNull(list(text)),
    role: orNull(oneOf(...ROLES)),
  }),
  Sso: object({ type: only('sso'), issuer: orNull(text), client_id: orNull(text) }),
  SsoDevice: object({
    type: only('sso_device'),
    device_code: text,
    user_code: text,
    verification_uri: text,
    verification_uri_complete: orNull(text),
    interval: number,
    expires_in: number,
  }),
  SsoKeyRequest: object({ device_code: text, organization: text }, ['organization']),
  SsoKey: object(
    {
      type: oneOf('sso_pending', 'sso_key'),
      id: text,
      name: text,
      value: text,
      person: text,
      organization: text,
      role: oneOf(...ROLES),
      expires_at: instant,
    },
    words('id name value person organization role expires_at'),
  ),
  BudgetSpending: object({
    id: text,
    type: only('budget_spending'),
    name: text,
    organization: orNull(text),
    organization_name: orNull(text),
    enabled: flag,
    per: oneOf('day', 'week', 'month', 'lifetime'),
    window_start: orNull(instant),
    resets_at: orNull(instant),
    amount: money,
    spent: money,
    reserved: money,
    left: money,
    alerts_at: list(number),
  }),
  Balance: object({
    currency: only('USD'),
    balance: money,
    credit: money,
    spending_limit: orNull(money),
    spent: money,
    reserved: money,
    windows: object({ lifetime: WINDOW, month: WINDOW, day: WINDOW }),
  }),
  UsageRow: object({
    requests: count,
    errors: count,
    estimated: count,
    unpriced: count,
    usage: USAGE,
    cost: orNull(money),
  }),
  Execution: object(
    {
      id: text,
      type: only('execution'),
      created_at: instant,
      key: object({ id: text, name: text }),
      surface: text,
      model: text,
      stream: flag,
      conversation: orNull(text),
      end_user: orNull(text),
      tags: orNull({ type: 'object' }),
      status: orNull(count),
      result: oneOf('ok', 'error', 'aborted', 'interrupted', 'pending'),
      error_code: orNull(text),
      refused_by: object({
        limit: text,
        id: text,
        name: orNull(text),
        unit: text,
        free_at: orNull(instant),
        text,
      }),
      usage: USAGE,
      estimated: flag,
      cost: orNull(money),
      first_content_ms: orNull(number),
      total_ms: orNull(number),
    },
    ['refused_by'],
  ),
  SessionRequest: object({ agent: { type: ['string', 'object'] } }),
  Session: object(
    {
      id: { type: 'string', pattern: '^sess_' },
      type: only('session'),
      status: text,
      title: orNull(text),
      agent: { type: 'object' },
      metadata: { type: 'object' },
      usage: { type: 'object' },
      created_at: instant,
      updated_at: instant,
      archived_at: orNull(instant),
      events_removed_at: instant,
    },
    ['events_removed_at'],
  ),
  SessionEvent: object({ id: { type: 'string', pattern: '^sevt_' }, type: text }),
  SessionEventsRequest: object({ events: list(object({ type: text })) }),
  SessionDeleted: object({ id: text, type: only('session_deleted') }),
  ServiceRunRequest: object({ input: anything, content: anything, session_id: orNull(text) }, [
    'input',
    'content',
    'session_id',
  ]),
  ServiceRun: object({
    session_id: { type: 'string', pattern: '^sess_' },
    events: list(
      object({
        id: { type: 'string', pattern: '^sevt_' },
        type: only('user.message'),
        processed_at: orNull(instant),
      }),
    ),
  }),
  JsonRpcMessage: object({ jsonrpc: only('2.0'), id: anything, method: text }, ['id', 'method']),
  JsonRpcMessages: {
    anyOf: [schemaRef('JsonRpcMessage'), list(schemaRef('JsonRpcMessage'))],
  },
  JsonRpcFailure: object({
    jsonrpc: only('2.0'),
    id: anything,
    error: object({ code: { type: 'integer' }, message: text }),
  }),
  DeploymentRun: object({
    id: { type: 'string', pattern: '^drun_' },
    type: text,
    deployment_id: text,
    agent: orNull({ type: 'object' }),
    trigger_context: object({ type: oneOf('manual', 'schedule') }),
    session_id: orNull(text),
    error: orNull(object({ type: text, message: text })),
    created_at: instant,
  }),
  Delivered: object({ delivered: flag }),
  EmptyBody: { type: 'object', maxProperties: 0 },
};

/** Failures in the shape of each family; those of the shared checks are flat on most (contract: Errors). */
export const ERROR_SCHEMAS: Readonly<Record<EnvelopeName, JsonSchema>> = {
  flat: object({ error: text }),
  resource: object({ type: only('error'), error: object({ type: text, message: text }) }, ['type']),
  chat: object({ error: object({ message: text, type: text }) }),
  messages: object({ type: only('error'), error: object({ type: text, message: text }) }),
  google: object({ error: object({ code: count, message: text, status: text }) }),
};

/** `FlatError`, `ResourceError` … */
export function errorName(envelope: Envelope): string {
  const name = typeof envelope === 'object' ? envelope.name : envelope;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Error`;
}
