import { isJsonObject } from '../../core/json-value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';

/**
 * Maps a Responses usage object. Missing, negative and non-numeric counts are 0; undefined when the
 * object names neither input nor output tokens.
 */
export function fromResponsesUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['input_tokens']) && !isCount(raw['output_tokens'])) return undefined;
  const input = count(raw['input_tokens']);
  const details = members(raw['input_tokens_details']);
  const cacheRead = Math.min(count(details['cached_tokens']), input);
  const cacheWrite = Math.min(count(details['cache_write_tokens']), input - cacheRead);
  const output = count(raw['output_tokens']);
  const reasoning = count(members(raw['output_tokens_details'])['reasoning_tokens']);
  return {
    ...NO_USAGE,
    input: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    output,
    reasoning: Math.min(reasoning, output),
    raw,
  };
}

/** The usage object of a Response. */
export function toResponsesUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.input + usage.cacheRead + cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
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
