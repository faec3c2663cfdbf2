import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { membersOf } from '../json-fields.ts';
import { countOf, isCount } from '../canonical/token-counts.ts';

/**
 * Maps a Responses usage object. Missing, negative and non-numeric counts are 0; undefined when the
 * object names neither input nor output tokens.
 */
export function fromResponsesUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['input_tokens']) && !isCount(raw['output_tokens'])) return undefined;
  const input = countOf(raw['input_tokens']);
  const details = membersOf(raw['input_tokens_details']);
  const cacheRead = Math.min(countOf(details['cached_tokens']), input);
  const cacheWrite = Math.min(countOf(details['cache_write_tokens']), input - cacheRead);
  const output = countOf(raw['output_tokens']);
  const reasoning = countOf(membersOf(raw['output_tokens_details'])['reasoning_tokens']);
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
