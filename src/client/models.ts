import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** One way in which a model answers clients of a protocol. */
export interface ServedWay {
  provider_protocol: string;
  translated: boolean;
  /** Present: the way of requests with function tools and reasoning. */
  tools_with_reasoning?: true;
  /** The client's names of fields that are lost on this way. */
  loses: string[];
}

/** Capabilities of an upstream model for translated requests (docs: protocols). */
export interface ModelCapabilities {
  thinking: string;
  efforts: string[] | null;
  thinking_off: boolean;
  thinking_unasked: boolean;
  min_budget: number;
  max_budget: number | null;
  sampling: boolean;
  sampling_with_thinking: boolean;
  top_p_with_thinking: number;
  temperature_with_top_p: boolean;
  forced_tool_with_thinking: boolean;
  tools_with_reasoning: string | null;
  tool_id_length: number | null;
  exact_tool_id_length: number | null;
  name_length: number | null;
  name_marks: string | null;
  name_any_start: boolean;
  max_tools: number | null;
  max_stops: number | null;
  max_seed: number | null;
  min_output_tokens: number;
  document_types: string[] | null;
  consecutive_assistant_turns: boolean;
  consecutive_user_turns: boolean;
  user_after_tool: boolean;
  assistant_first: boolean;
  assistant_last: boolean;
  system_turns: boolean;
  system_texts: boolean;
  custom_tools: boolean;
  penalties: boolean;
  forced_tool: boolean;
  tools_with_output: boolean;
  unsigned_call: string | null;
  unreasoned_call: string | null;
  budget_after_calls: boolean;
  tool_result_media: boolean;
  any_schema: boolean;
  blank_texts: boolean;
  max_temperature: number | null;
  min_seed: number | null;
  unknown_members: string[];
  user_length: number | null;
  personal_user: boolean;
}

/** One line of the catalog (interface: Model catalog item). */
export interface CatalogItem {
  id: string;
  object: string;
  created: number;
  owned_by: string;
  /** Protocols of a single model, by those of its clients. */
  protocols?: Partial<Record<string, ServedWay[]>>;
  /**
   * Capabilities of each route's upstream model, by the protocol of its provider; of a single
   * model.
   */
  routes?: { capabilities: Partial<Record<string, ModelCapabilities>> }[];
  [field: string]: unknown;
}

/** A model with the members that tables show; those that {@link CatalogItem} lacks may be absent. */
export interface ModelRow {
  id: string;
  object: string;
  created: number;
  owned_by: string;
  type?: string;
  context_window?: number | null;
  max_output_tokens?: number | null;
  /** Decimal USD: classes of tokens per million, the rest per unit; null is unknown. */
  pricing?: ModelPricing;
  /** Protocols in which clients can call it. */
  protocols?: string[];
  routes?: ModelRowRoute[];
  [field: string]: unknown;
}

/** Provider, upstream model and prices are shown only to keys with the scope admin. */
export interface ModelRowRoute {
  protocols: string[];
  provider?: string;
  upstream_model?: string;
  pricing?: ModelPricing;
}

/** A provider that serves models without declarations. */
export interface OpenProvider {
  provider: string;
  /** Upstream names that it serves; * is any characters. */
  patterns: string[];
  /** Models that its last list named. */
  listed: number;
  /** Why its list is missing or old; only for keys with the scope admin, null for none. */
  problem?: string | null;
}

/** Models as tables show them. */
export interface ModelTable {
  models: ModelRow[];
  /** Absent from older gateways, where it is empty here. */
  open: OpenProvider[];
}

export type ModelPricing = Readonly<Record<string, string | null>>;

/** One route of a plan, as the gateway explains it. */
export interface PlanLine {
  model: string;
  provider: string;
  upstream_model: string;
  protocol: string | null;
  health: { state: string; latency_ms: number | null };
  /** Absent from older gateways. */
  pricing?: ModelPricing;
  /** Null for a route that is left out; absent from older gateways. */
  capabilities?: ModelCapabilities | null;
  /** Address of the rule that decided each capability, `provider` or `route`; absent from older gateways. */
  decided_by?: Readonly<Record<string, string>> | null;
  why: string;
  [field: string]: unknown;
}

/** One rule on the way from the name that was asked for to its model. */
export interface NameStep {
  rule: string;
  by: string;
  pattern?: string;
  gives: string;
}

export interface Plan {
  model: string;
  /** Absent from older gateways. */
  asked?: string;
  resolved_by?: NameStep[];
  protocol: string;
  candidates: PlanLine[];
  left_out: PlanLine[];
  [field: string]: unknown;
}

export interface ModelsClient {
  /** `type` '' lists every type; undefined only the language models. */
  list(
    query?: { type?: string; vendor?: string; q?: string },
    signal?: AbortSignal,
  ): Promise<CatalogItem[]>;
  /** The same with prices, protocols and routes. */
  table(
    query?: { type?: string; vendor?: string; q?: string },
    signal?: AbortSignal,
  ): Promise<ModelTable>;
  get(id: string, signal?: AbortSignal): Promise<CatalogItem>;
  /** Explains where a request would go now; `protocol` is the client's, by default `chat`. */
  explain(
    query: { model: string; protocol?: string | undefined },
    signal?: AbortSignal,
  ): Promise<Plan>;
}

const isLine = hasStrings<PlanLine>('provider', 'upstream_model', 'why');

function isPlan(value: unknown): value is Plan {
  if (!hasStrings<Plan>('model', 'protocol')(value)) return false;
  return [value.candidates, value.left_out].every(
    (lines) => Array.isArray(lines) && lines.every(isLine),
  );
}

const isRow = hasStrings<ModelRow>('id', 'object');
const isOpen = (value: unknown): value is OpenProvider =>
  isRecord(value) &&
  typeof value['provider'] === 'string' &&
  Array.isArray(value['patterns']) &&
  typeof value['listed'] === 'number';
const isItem = hasStrings<CatalogItem>('id', 'object');

export function createModelsClient(http: Http): ModelsClient {
  return {
    async list(query, signal) {
      const call = { method: 'GET', path: '/v1/models', query, signal };
      return (await http.json(call, isPageOf(isItem))).body.data;
    },
    async table(query, signal) {
      const call = {
        method: 'GET',
        path: '/v1/models',
        query: { ...query, details: 'true' },
        signal,
      };
      const { data, open = [] }: { data: ModelRow[]; open?: unknown } = (
        await http.json(call, isPageOf(isRow))
      ).body;
      return { models: data, open: Array.isArray(open) ? open.filter(isOpen) : [] };
    },
    async get(id, signal) {
      const path = `/v1/models/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isItem)).body;
    },
    async explain(query, signal) {
      const call = { method: 'GET', path: '/admin/v1/routing', query, signal };
      return (await http.json(call, isPlan)).body;
    },
  };
}
