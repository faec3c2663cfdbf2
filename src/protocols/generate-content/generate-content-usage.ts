import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { countOf, isCount } from '../canonical/token-counts.ts';

/**
 * Maps `usageMetadata`: the prompt's tokens include the cached ones, thoughts are not in the
 * candidates' tokens, nor the tokens of tools in the prompt's. Missing, negative
 * and non-numeric counts are 0; undefined when neither prompt nor candidates are counted.
 */
export function toGenerateContentUsage(raw: unknown): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  if (!isCount(raw['promptTokenCount']) && !isCount(raw['candidatesTokenCount'])) return undefined;
  const prompt = countOf(raw['promptTokenCount']) + countOf(raw['toolUsePromptTokenCount']);
  const cacheRead = Math.min(prompt, countOf(raw['cachedContentTokenCount']));
  const told = countOf(raw['candidatesTokenCount']);
  const reasoning = countOf(raw['thoughtsTokenCount']);
  // Some count thoughts among the tokens of the candidates, as their total shows.
  const within = reasoning > 0 && countOf(raw['totalTokenCount']) === prompt + told;
  const output = within ? told : told + reasoning;
  return {
    ...NO_USAGE,
    input: prompt - cacheRead,
    cacheRead,
    output,
    reasoning: Math.min(reasoning, output),
    raw,
  };
}

export function fromUsage(usage: Usage): Record<string, number> {
  const cached = usage.cacheRead;
  const prompt = usage.input + cached + usage.cacheWrite5m + usage.cacheWrite1h;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: prompt + usage.output,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  };
}
