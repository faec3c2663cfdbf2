import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE, serviceOf } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { membersOf } from '../json-fields.ts';
import { countOf, isCount, mediaOf, serverToolCalls, toolsOf } from '../canonical/token-counts.ts';

/**
 * Maps a chat usage object. Missing, negative and non-numeric counts are 0; undefined when the
 * object names neither prompt nor completion tokens.
 */
export function toChatUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['prompt_tokens']) && !isCount(raw['completion_tokens'])) return undefined;
  const prompt = countOf(raw['prompt_tokens']);
  const inDetails = membersOf(raw['prompt_tokens_details']);
  // DeepSeek names its cache hits at the top level.
  const told = countOf(inDetails['cached_tokens']) || countOf(raw['prompt_cache_hit_tokens']);
  const cacheRead = Math.min(told, prompt);
  const written =
    countOf(inDetails['cache_write_tokens']) || countOf(raw['cache_creation_input_tokens']);
  // Some report the same tokens as read and as written.
  const cacheWrite = Math.min(written, prompt - cacheRead);
  const completion = countOf(raw['completion_tokens']);
  const rest = countOf(raw['total_tokens']) - prompt - completion;
  const outDetails = membersOf(raw['completion_tokens_details']);
  const counted = outDetails['reasoning_tokens'];
  // Google counts thoughts only in the total; a surplus in the total of others may be their cache.
  const isUntold =
    !isCount(counted) && isCount(raw['prompt_tokens']) && isCount(raw['completion_tokens']);
  const untold = isUntold && rest !== told + written ? Math.max(0, rest) : 0;
  const reasoning = countOf(counted) || untold;
  // xAI and Google count reasoning in addition to the completion tokens, all others within them.
  const output = reasoning > 0 && rest === reasoning ? completion + reasoning : completion;
  return {
    ...NO_USAGE,
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    output,
    reasoning: Math.min(reasoning, output),
    media: mediaOf({
      inputAudio: inDetails['audio_tokens'],
      inputImage: inDetails['image_tokens'],
      inputVideo: inDetails['video_tokens'],
      outputAudio: outDetails['audio_tokens'],
      outputImage: outDetails['image_tokens'],
      outputVideo: outDetails['video_tokens'],
    }),
    tools: toolsOf(serverToolCalls(raw['server_side_tool_usage_details'])),
    raw,
  };
}

/** The usage of a completion or chunk; Groq puts that of a stream into `x_groq`. */
export function usageOf(value: Readonly<Record<string, unknown>>): Usage | undefined {
  const usage = toChatUsage(value['usage']) ?? toChatUsage(membersOf(value['x_groq'])['usage']);
  // Some servers name the tier within the usage.
  const service = serviceOf(value['service_tier'], membersOf(value['usage'])['service_tier']);
  return usage && service ? { ...usage, service } : usage;
}

/** Chat counts cached tokens within the prompt's. */
export function writeChatUsage(usage: Usage): object {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = usage;
  const written = cacheWrite5m + cacheWrite1h;
  const prompt = input + cacheRead + written;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(written > 0 && { cache_write_tokens: written }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
