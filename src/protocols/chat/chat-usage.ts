import { isJsonObject } from '../../core/json-value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';

/**
 * Maps a chat usage object. Missing, negative and non-numeric counts are 0; undefined when the object
 * names neither prompt nor completion tokens.
 */
export function toChatUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['prompt_tokens']) && !isCount(raw['completion_tokens'])) return undefined;
  const prompt = count(raw['prompt_tokens']);
  const inDetails = members(raw['prompt_tokens_details']);
  // DeepSeek names its cache hits at the top level.
  const cacheRead = count(inDetails['cached_tokens']) || count(raw['prompt_cache_hit_tokens']);
  const cacheWrite =
    count(inDetails['cache_write_tokens']) || count(raw['cache_creation_input_tokens']);
  const reasoning = count(members(raw['completion_tokens_details'])['reasoning_tokens']);
  const completion = count(raw['completion_tokens']);
  // xAI counts reasoning beside the completion tokens, everybody else within them.
  const beside = reasoning > 0 && count(raw['total_tokens']) === prompt + completion + reasoning;
  const output = beside ? completion + reasoning : completion;
  return {
    ...NO_USAGE,
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite5m: cacheWrite,
    output,
    reasoning: Math.min(reasoning, output),
    raw,
  };
}

/** The usage of a completion or chunk; Groq puts that of a stream into `x_groq`. */
export function usageOf(value: Readonly<Record<string, unknown>>): Usage | undefined {
  return toChatUsage(value['usage']) ?? toChatUsage(members(value['x_groq'])['usage']);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function count(value: unknown): number {
  return isCount(value) ? Math.round(value) : 0;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
