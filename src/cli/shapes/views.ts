import {
  anything,
  count,
  flag,
  list,
  number,
  oneOf,
  orNull,
  record,
  text,
  texts,
} from './shape.ts';
import type { Shape } from './shape.ts';

/** Shape of a resource in the API with the members that every one has. */
function view(type: string, members: Readonly<Record<string, Shape>>): Shape {
  return record({
    id: text,
    type: { const: type },
    name: text,
    labels: { type: 'object', additionalProperties: text },
    version: count,
    created_at: text,
    updated_at: text,
    ...members,
  });
}

export const ORGANIZATION = view('organization', { enabled: flag });
export const PROVIDER = view('provider', {
  provider_type: text,
  enabled: flag,
  api_key_configured: flag,
});
export const API = view('api', {
  base_url: text,
  methods: texts,
  enabled: flag,
  api_key_configured: flag,
});
/** Shape of the spending that `keys get` and `organizations get` show beside the resource. */
export const SPENDING = record({
  spent: record({ lifetime: text, month: text, day: text }),
  reserved: text,
  last_used_at: orNull(text),
  last_used_on: orNull(text),
});
export const KEY = view('api_key', {
  organization: text,
  scopes: orNull(texts),
  enabled: flag,
  hint: text,
  expires_at: orNull(text),
  revoked_at: orNull(text),
  rotated_at: orNull(text),
  former_hint: orNull(text),
  former_until: orNull(text),
});
export const AGENT = view('agent', {
  organization: text,
  model: orNull(record({ id: text })),
  harness: orNull(oneOf(text, record({ name: text }))),
  archived_at: orNull(text),
});
export const SERVICE = view('endpoint', {
  organization: text,
  slug: orNull(text),
  status: text,
  protocols: texts,
  urls: record({}),
});
export const CREDENTIAL = view('credential', {
  organization: text,
  agent_id: text,
  scope: text,
  scope_name: text,
  secret_key: text,
  status: text,
  value_hint: text,
});
export const SKILL = view('skill', { organization: text, description: text });
export const SKILL_VERSION = record({ id: text });
export const FILE = record({ id: text });
export const ASSET = record({
  id: text,
  asset_url: text,
  asset_type: text,
  name: orNull(text),
  created_at: text,
});
export const ASSET_DETAILS = {
  allOf: [ASSET, record({ external_id: text, status: text, download_url: text })],
};
const PRICING = record({ currency: text });
export const MODEL = record(
  { id: text, object: { const: 'model' }, owned_by: text },
  {
    type: text,
    context_window: orNull(count),
    max_output_tokens: orNull(count),
    pricing: PRICING,
    protocols: texts,
    routes: list(
      record({ protocols: texts }, { provider: text, upstream_model: text, pricing: PRICING }),
    ),
  },
);
/** A model as administrators see it. */
export const MODEL_ENTRY = view('model', {
  model_type: text,
  enabled: flag,
  strategy: text,
  fallbacks: texts,
  pricing: orNull(record({})),
  routes: list(record({ provider: text, priority: number, weight: number, enabled: flag })),
});
export const MODEL_DETAILS = record({
  id: text,
  type: text,
  capabilities: texts,
  schema: anything,
  context_window: orNull(count),
  pricing: PRICING,
});
export const MODEL_ORDER = record({
  model: text,
  protocol: text,
  candidates: list(record({ provider: text, upstream_model: text, why: text })),
  left_out: list(record({})),
});

export const SESSION = record({
  id: text,
  type: { const: 'session' },
  status: text,
  title: orNull(text),
  agent: record({ id: text, name: text, version: count }),
  stats: record({ active_seconds: number, duration_seconds: number, turns: orNull(count) }),
  usage: record({ input_tokens: count, output_tokens: count, cost: text }),
  created_at: text,
  updated_at: text,
});
export const EVENT = record({ id: text, type: text, processed_at: text });
export const DEPLOYMENT = record({ id: text, name: text, status: text, created_at: text });
/** A Schedule as administrators see it. */
export const SCHEDULE = view('deployment', {
  organization: text,
  status: text,
  paused: flag,
  agent: orNull(record({ id: text })),
  schedule: orNull(record({ expression: text, timezone: text })),
  initial_events: list(record({ type: text })),
});
export const RUN = record({
  id: text,
  deployment_id: text,
  trigger_context: record({ type: text }),
  session_id: orNull(text),
  error: orNull(record({ type: text, message: text })),
  created_at: text,
});

export const REQUEST = record({
  id: text,
  created_at: text,
  model: text,
  surface: text,
  status: orNull(number),
  result: text,
  cost: orNull(text),
  total_ms: orNull(number),
});
export const USAGE = record(
  { requests: count, errors: count, usage: record({ input_tokens: count }), cost: orNull(text) },
  { unpriced: count, key: text, model: text, day: text, organization: text },
);
