import type { FittingRequest } from '../../capabilities/fit-request.ts';
import { loseSchemaNotes } from '../../canonical/output.ts';
import type { Feature } from '../../features.ts';
import type { Members } from './members.ts';

/** Everything about how the answer is to be made. */
export function toSettings(request: FittingRequest, losses: Set<Feature>): Members {
  const { temperature, topP, topK, stop, user, serviceTier } = request;
  if (temperature !== undefined && temperature > 1) losses.add('temperature_above_1');
  noteLosses(request, losses);
  return {
    max_tokens: request.maxOutputTokens,
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(stop !== undefined && stop.length > 0 && { stop_sequences: stop }),
    ...toThinkingConfig(request),
    ...toOutputConfig(request),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(serviceTier !== undefined &&
      TIERS.has(serviceTier) && { service_tier: TIERS.get(serviceTier) }),
  };
}

function noteLosses(request: FittingRequest, losses: Set<Feature>): void {
  const { frequencyPenalty, presencePenalty, seed, logprobs, verbosity, metadata, serviceTier } =
    request;
  if (frequencyPenalty !== undefined) losses.add('frequency_penalty');
  if (presencePenalty !== undefined) losses.add('presence_penalty');
  if (seed !== undefined) losses.add('seed');
  if (logprobs !== undefined) losses.add('logprobs');
  if (verbosity !== undefined) losses.add('verbosity');
  if (isOther(serviceTier)) losses.add('service_tier');
  if (metadata !== undefined && Object.keys(metadata).length > 0) losses.add('metadata');
  if (request.output?.type === 'json') losses.add('json_output');
  loseSchemaNotes(request.output, losses);
  const { state, show } = request.reasoning;
  if (state === 'off' && show === true) losses.add('reasoning_shown');
}

function toThinkingConfig({ reasoning }: FittingRequest): Members {
  const { state, budget, show } = reasoning;
  if (state === 'unsaid') return {};
  if (state === 'off') return { thinking: { type: 'disabled' } };
  return {
    thinking: {
      ...(budget === undefined ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: budget }),
      ...(show !== undefined && { display: show ? 'summarized' : 'omitted' }),
    },
  };
}

function toOutputConfig({ reasoning: { effort }, output }: FittingRequest): Members {
  const config = {
    ...(effort !== undefined && { effort }),
    ...(output?.type === 'schema' && { format: { type: 'json_schema', schema: output.schema } }),
  };
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

/** No tier here is slow for half the price. */
function isOther(tier: string | undefined): boolean {
  return tier !== undefined && (tier === 'flex' || !TIERS.has(tier));
}

/** Two tiers here: with capacity that was bought ahead, or without. */
const TIERS: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'auto'],
  ['default', 'standard_only'],
  ['standard', 'standard_only'],
  ['flex', 'standard_only'],
  ['standard_only', 'standard_only'],
]);
