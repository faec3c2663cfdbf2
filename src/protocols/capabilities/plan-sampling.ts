import type { CanonicalRequest } from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';
import type { Capabilities } from './capabilities.ts';

/** Members of a request that say how tokens are drawn, the most important first. */
const SAMPLING = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logprobs: 'logprobs',
} as const satisfies Partial<Record<keyof CanonicalRequest, Feature>>;

type Sampling = keyof typeof SAMPLING;

/** Model that is asked for an answer. */
export interface SamplingTarget {
  readonly takes: Capabilities;
  /** It reasons over this answer. */
  readonly isReasoning: boolean;
}

/**
 * The request without the sampling that its model refuses: sampling gives way to reasoning, and top
 * p to a temperature.
 *
 * @param losses takes the features that are left out
 */
export function planSampling(
  request: CanonicalRequest,
  target: SamplingTarget,
  losses: Set<Feature>,
): CanonicalRequest {
  const kept = { ...request };
  for (const name of Object.keys(SAMPLING) as Sampling[]) {
    if (kept[name] === undefined || isTaken(name, kept, target)) continue;
    losses.add(SAMPLING[name]);
    delete kept[name];
  }
  return kept;
}

/** Judges a member; called in the order of the members, so that omitted ones do not count. */
function isTaken(
  name: Sampling,
  request: CanonicalRequest,
  { takes, isReasoning }: SamplingTarget,
): boolean {
  const { temperature, topP = 0 } = request;
  if (!takes.sampling) return false;
  const isPenalty = name === 'presencePenalty' || name === 'frequencyPenalty';
  if (isPenalty && !takes.penalties && request[name] !== 0) return false;
  if (name === 'topP' && temperature !== undefined && !takes.temperature_with_top_p) return false;
  if (takes.sampling_with_thinking || !isReasoning) return true;
  if (name === 'temperature') return temperature === 1;
  return name === 'topP' && topP >= takes.top_p_with_thinking;
}
