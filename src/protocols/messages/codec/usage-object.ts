import { NO_USAGE } from '../../../core/usage.ts';
import type { Usage } from '../../../core/usage.ts';
import type { Members } from './members.ts';

/** Clients need one in every answer: zeros where nothing is known. */
export function toUsageObject(usage: Usage = NO_USAGE): Members {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = usage;
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite5m,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}
