import { anything, count, flag, list, number, orNull, record, text, texts } from './shape.ts';

/** Shape of the spending that `keys get` and `organizations get` add to the resource. */
export const SPENDING = record({
  spent: record({ lifetime: text, month: text, day: text }),
  reserved: text,
  last_used_at: orNull(text),
  last_used_on: orNull(text),
});
/** Shape of a budget as `budgets list` shows it. */
export const BUDGET = record({
  id: text,
  name: text,
  organization: orNull(text),
  organization_name: orNull(text),
  per: text,
  resets_at: orNull(text),
  amount: text,
  spent: text,
  reserved: text,
  left: text,
});
/** Shape of the list of published prices that is in use. */
export const PRICE_LIST = record({
  type: { const: 'price_list' },
  in_use: text,
  shipped_version: text,
  sha256: orNull(text),
  from: orNull(text),
  kept_at: orNull(text),
  vendors: orNull(count),
  models: orNull(count),
});
export const SKILL_VERSION = record({ id: text });
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
    name: text,
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
export const MODEL_DETAILS = record({
  id: text,
  type: text,
  capabilities: texts,
  schema: anything,
  context_window: orNull(count),
  pricing: PRICING,
});
export const MODEL_ORDER = record(
  {
    model: text,
    protocol: text,
    candidates: list(record({ provider: text, upstream_model: text, why: text })),
    left_out: list(record({})),
  },
  { asked: text, resolved_by: list(record({ rule: text, by: text, gives: text })) },
);

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
const OUTCOME = record({ type: text, reason: orNull(text), message: orNull(text) });
export const RUN = record(
  {
    id: text,
    deployment_id: text,
    trigger_context: record({ type: text }),
    session_id: orNull(text),
    error: orNull(record({ type: text, message: text })),
    created_at: text,
  },
  { deployment_name: text, outcome: OUTCOME },
);

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
export const AUDIT_ENTRY = record({
  id: text,
  at: text,
  organization: orNull(text),
  actor: record({ kind: text, id: orNull(text), name: text }),
  from: record({ address: orNull(text), client: orNull(text) }),
  action: text,
  object: record({ kind: text, id: text, name: orNull(text) }),
  changes: list(record({ path: text, old: anything, new: anything })),
  request_id: orNull(text),
  chain: count,
  number: count,
  hash: text,
});
export const AUDIT_VERDICT = record({
  valid: flag,
  entries: count,
  seals: count,
  sealed_until: orNull(text),
  removed_before: orNull(text),
  fault: orNull(record({ problem: text, message: text })),
});
export const USAGE = record(
  { requests: count, errors: count, usage: record({ input_tokens: count }), cost: orNull(text) },
  {
    unpriced: count,
    key: orNull(text),
    model: orNull(text),
    vendor: orNull(text),
    day: orNull(text),
    organization: orNull(text),
    conversation: orNull(text),
    end_user: orNull(text),
  },
);
