import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE, serviceOf } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { countOf, isCount, toolsOf } from '../canonical/token-counts.ts';
import { membersOf } from '../json-fields.ts';
import type { Members } from '../json-fields.ts';
import { modalitiesOf } from '../canonical/modalities.ts';

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
    media: modalitiesOf({
      input: raw['promptTokensDetails'],
      tools: raw['toolUsePromptTokensDetails'],
      cached: raw['cacheTokensDetails'],
      output: raw['candidatesTokensDetails'],
    }),
    service: serviceOf(toTier(raw['trafficType']), raw['serviceTier']),
    raw,
  };
}

/** Usage of an answer or a part of it, with the searches that grounded it. */
export function usageOfContent({ usageMetadata, candidates }: Members): Usage | undefined {
  const usage = toGenerateContentUsage(usageMetadata);
  const tools = toolsOf(countGrounding(candidates));
  return usage && tools ? { ...usage, tools } : usage;
}

/** Usage of a stream so far; searches are named once, perhaps before the last part. */
export function joinUsage(earlier: Usage | undefined, value: Members): Usage | undefined {
  const later = usageOfContent(value) ?? earlier;
  const told = toolsOf(countGrounding(value['candidates'])) ?? earlier?.tools;
  return later && told ? { ...later, tools: told } : later;
}

function countGrounding(candidates: unknown): Parameters<typeof toolsOf>[0] {
  const grounds = (Array.isArray(candidates) ? candidates : []).map((candidate) =>
    membersOf(membersOf(candidate)['groundingMetadata']),
  );
  const queries = grounds.flatMap((one) => [one['webSearchQueries'], one['imageSearchQueries']]);
  const chunks = grounds.flatMap((one) => one['groundingChunks']);
  return {
    web_search: queries.flat().filter((query) => typeof query === 'string' && query !== '').length,
    maps_search: chunks.some((chunk) => 'maps' in membersOf(chunk)) ? 1 : 0,
  };
}

/** Vertex AI names the quota that served a call, such as `ON_DEMAND_PRIORITY`. */
function toTier(trafficType: unknown): unknown {
  return typeof trafficType === 'string' ? trafficType.replace(/^ON_DEMAND_/, '') : undefined;
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
