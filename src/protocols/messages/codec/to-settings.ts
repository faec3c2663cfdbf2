import type { CanonicalRequest, ReasoningRequest } from '../../canonical.ts';
import type { Feature } from '../../features.ts';
import type { Members } from './members.ts';

/** The smallest budget that providers accept. */
const MIN_BUDGET = 1024;

/** Everything about how the answer is to be made. */
export function toSettings(
  request: CanonicalRequest,
  defaultMaxTokens: number,
  losses: Set<Feature>,
): Members {
  const maxTokens = request.maxOutputTokens ?? defaultMaxTokens;
  const { temperature, topP, topK, stop, user, serviceTier, reasoning } = request;
  if (temperature !== undefined && temperature > 1) losses.add('temperature_above_1');
  noteLosses(request, losses);
  return {
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(stop !== undefined && stop.length > 0 && { stop_sequences: stop }),
    ...(reasoning && toThinkingConfig(reasoning, maxTokens)),
    ...toOutputConfig(request),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(serviceTier !== undefined && { service_tier: toServiceTier(serviceTier) }),
  };
}

function noteLosses(request: CanonicalRequest, losses: Set<Feature>): void {
  const { frequencyPenalty, presencePenalty, seed, logprobs, verbosity, metadata } = request;
  if (frequencyPenalty !== undefined) losses.add('frequency_penalty');
  if (presencePenalty !== undefined) losses.add('presence_penalty');
  if (seed !== undefined) losses.add('seed');
  if (logprobs !== undefined) losses.add('logprobs');
  if (verbosity !== undefined) losses.add('verbosity');
  if (metadata !== undefined && Object.keys(metadata).length > 0) losses.add('metadata');
  if (request.output?.type === 'json') losses.add('json_output');
}

/** A budget must leave room for the answer; where there is no room for both, the answer has it. */
function toThinkingConfig(reasoning: ReasoningRequest, maxTokens: number): Members {
  const { effort, budgetTokens, enabled, show } = reasoning;
  const isOff = enabled === false || effort === 'none';
  if (isOff || (budgetTokens !== undefined && maxTokens <= MIN_BUDGET))
    return { thinking: { type: 'disabled' } };
  const budget = Math.max(MIN_BUDGET, Math.min(budgetTokens ?? 0, maxTokens - 1));
  return {
    thinking: {
      ...(budgetTokens === undefined
        ? { type: 'adaptive' }
        : { type: 'enabled', budget_tokens: budget }),
      ...(show !== undefined && { display: show ? 'summarized' : 'omitted' }),
    },
  };
}

function toOutputConfig({ reasoning, output }: CanonicalRequest): Members {
  const { effort } = reasoning ?? {};
  const config = {
    ...(effort !== undefined &&
      effort !== 'none' && { effort: effort === 'minimal' ? 'low' : effort }),
    ...(output?.type === 'schema' && { format: { type: 'json_schema', schema: output.schema } }),
  };
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

/** Two tiers here: with capacity that was bought ahead, or without. */
function toServiceTier(tier: string): string {
  return ['default', 'standard', 'standard_only', 'flex'].includes(tier) ? 'standard_only' : 'auto';
}
