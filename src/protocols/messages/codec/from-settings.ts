import { isJsonObject } from '../../../core/json-value.ts';
import type { CanonicalRequest, ReasoningRequest } from '../../canonical.ts';
import type { Members } from './members.ts';

type Settings = Omit<
  CanonicalRequest,
  'turns' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'stream' | 'unmapped'
>;

/** Members that are read here or elsewhere. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'stream',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'thinking',
  'output_config',
]);

/** How the answer is to be made; names members without a place in the canonical form. */
export function fromSettings(body: Members, unmapped: Set<string>): Settings {
  for (const [name, value] of Object.entries(body))
    if (!KNOWN.has(name) && value !== null) unmapped.add(name);
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
    ...fromMetadata(body['metadata'], unmapped),
    ...fromServiceTier(body['service_tier']),
  };
}

function fromThinkingConfig(thinking: unknown): ReasoningRequest {
  if (!isJsonObject(thinking)) return {};
  const { type, budget_tokens: budget, display } = thinking;
  if (type === 'disabled') return { enabled: false };
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
  const { effort: _effort, format, ...rest } = config;
  for (const [name, value] of Object.entries(rest))
    if (value !== null) unmapped.add(`output_config.${name}`);
  if (!isJsonObject(format)) return {};
  const { type, schema } = format;
  if (type === 'json_schema' && isJsonObject(schema)) return { output: { type: 'schema', schema } };
  unmapped.add('output_config.format');
  return {};
}

function fromMetadata(metadata: unknown, unmapped: Set<string>): Pick<Settings, 'user'> {
  if (!isJsonObject(metadata)) return {};
  const { user_id: user, ...rest } = metadata;
  for (const name of Object.keys(rest)) unmapped.add(`metadata.${name}`);
  return typeof user === 'string' ? { user } : {};
}

/** `auto` may use capacity that was bought ahead, as the default of other protocols does not. */
function fromServiceTier(tier: unknown): Pick<Settings, 'serviceTier'> {
  if (typeof tier !== 'string') return {};
  return { serviceTier: tier === 'standard_only' ? 'default' : tier };
}
