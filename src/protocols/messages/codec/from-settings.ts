import { isJsonObject } from '../../../core/json/value.ts';
import type { CanonicalRequest, ReasoningRequest } from '../../canonical/canonical.ts';
import type { Members } from './members.ts';

type Settings = Omit<
  CanonicalRequest,
  'turns' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'stream' | 'unmapped'
>;

/** Reads the settings by which the answer is made. */
export function fromSettings(body: Members, unmapped: Set<string>): Settings {
  const { max_tokens, temperature, top_p, top_k, stop_sequences: stop } = body;
  const reasoning = {
    ...fromThinkingConfig(body['thinking']),
    ...fromEffort(body['output_config']),
  };
  return {
    ...(typeof max_tokens === 'number' && { maxOutputTokens: max_tokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof top_k === 'number' && { topK: top_k }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop: stop as string[] }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...fromOutputFormat(body['output_config'], unmapped),
    ...fromMetadata(body['metadata']),
    ...fromServiceTier(body['service_tier']),
  };
}

function fromThinkingConfig(thinking: unknown): ReasoningRequest {
  if (!isJsonObject(thinking)) return {};
  const { type, budget_tokens: budget, display } = thinking;
  // Thinking only between calls is the least that some models do.
  if (type === 'disabled' || type === 'between_tools') return { enabled: false };
  return {
    enabled: true,
    ...(typeof budget === 'number' && { budgetTokens: budget }),
    ...(typeof display === 'string' && { show: display !== 'omitted' }),
  };
}

function fromEffort(config: unknown): ReasoningRequest {
  const effort = isJsonObject(config) ? config['effort'] : undefined;
  return typeof effort === 'string' ? { effort } : {};
}

function fromOutputFormat(config: unknown, unmapped: Set<string>): Pick<Settings, 'output'> {
  if (!isJsonObject(config)) return {};
  const { format } = config;
  if (!isJsonObject(format)) return {};
  const { type, schema } = format;
  if (type === 'json_schema' && isJsonObject(schema)) return { output: { type: 'schema', schema } };
  unmapped.add('output_config.format');
  return {};
}

function fromMetadata(metadata: unknown): Pick<Settings, 'user'> {
  if (!isJsonObject(metadata)) return {};
  const { user_id: user } = metadata;
  return typeof user === 'string' ? { user } : {};
}

/** `auto` may use capacity that was bought ahead, as the default of other protocols does not. */
function fromServiceTier(tier: unknown): Pick<Settings, 'serviceTier'> {
  if (typeof tier !== 'string') return {};
  return { serviceTier: tier === 'standard_only' ? 'default' : tier };
}
