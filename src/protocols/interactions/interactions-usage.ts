import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE, serviceOf } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { modalitiesOf } from '../canonical/modalities.ts';
import { countOf, isCount, toolsOf } from '../canonical/token-counts.ts';

/**
 * Maps a usage object of Interactions. Input tokens include cached ones, but not those of tools;
 * output tokens include thoughts only where the total shows it. Undefined when it names neither
 * input nor output.
 */
export function toInteractionUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['total_input_tokens']) && !isCount(raw['total_output_tokens'])) return undefined;
  const input = countOf(raw['total_input_tokens']);
  const cacheRead = Math.min(countOf(raw['total_cached_tokens']), input);
  const tools = countOf(raw['total_tool_use_tokens']);
  const told = countOf(raw['total_output_tokens']);
  const thoughts = countOf(raw['total_thought_tokens']);
  const within = thoughts > 0 && countOf(raw['total_tokens']) === input + tools + told;
  const output = within ? told : told + thoughts;
  return {
    ...NO_USAGE,
    input: input - cacheRead + tools,
    cacheRead,
    output,
    reasoning: Math.min(thoughts, output),
    media: modalitiesOf({
      input: raw['input_tokens_by_modality'],
      tools: raw['tool_use_tokens_by_modality'],
      cached: raw['cached_tokens_by_modality'],
      output: raw['output_tokens_by_modality'],
    }),
    service: serviceOf(raw['service_tier']),
    tools: toolsOf({
      web_search: countTools(raw['grounding_tool_count'], 'google_search'),
      maps_search: countTools(raw['grounding_tool_count'], 'google_maps'),
    }),
    raw,
  };
}

function countTools(list: unknown, type: string): number {
  if (!Array.isArray(list)) return 0;
  const own = list.filter(isJsonObject).filter((entry) => entry['type'] === type);
  return own.reduce((sum, { count }) => sum + countOf(count), 0);
}
