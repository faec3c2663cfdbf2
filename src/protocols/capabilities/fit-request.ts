import type { Steps } from '../../core/turns/in-turns.ts';
import type { RequestTarget } from '../canonical/codec.ts';
import type { CanonicalRequest } from '../canonical/canonical.ts';
import type { Protocol } from '../registry.ts';
import type { Feature } from '../features.ts';
import type { Capabilities } from './capabilities.ts';
import { capabilitiesOf } from './capabilities-of.ts';
import { fitCalls, withReasonedCalls } from './fit-calls.ts';
import { fitDocuments } from './fit-documents.ts';
import { fitCustomTools } from './fit-custom-tools.ts';
import { withoutForeign } from './fit-foreign.ts';
import { fitChoice, fitSettings } from './fit-settings.ts';
import { fitNames, fitToolIds } from './fit-tool-ids.ts';
import { fitTurns } from './fit-turns.ts';
import type { OwnNames } from './name-bounds.ts';
import { isReasoning, planReasoning, withoutReasoning } from './plan-reasoning.ts';
import type { ReasoningPlan } from './plan-reasoning.ts';
import { planSampling } from './plan-sampling.ts';

/** Request as its upstream model takes it. */
export interface FittingRequest extends Omit<CanonicalRequest, 'reasoning'> {
  readonly reasoning: ReasoningPlan;
  readonly takes: Capabilities;
  /** Paths of parts that only another protocol understands. */
  readonly lost: readonly string[];
  readonly names: OwnNames;
}

/**
 * Fits a request to what its upstream model takes, before a codec writes it.
 *
 * @param losses takes the features that are left out or changed
 * @throws GatewayError `unsupported_feature` for a document that the model cannot read
 */
export function* fitRequest(
  asked: CanonicalRequest,
  { protocol, target }: { protocol: Protocol; target: RequestTarget },
  losses: Set<Feature>,
): Steps<FittingRequest> {
  const takes = capabilitiesOf(protocol, target.model, target.capabilities);
  const request = fitSettings(asked, takes, losses);
  const reasoning = planReasoning(request, takes, protocol);
  if (reasoning.lost) losses.add('reasoning');
  const sampled = planSampling(
    request,
    { takes, isReasoning: isReasoning(reasoning, takes) },
    losses,
  );
  const { maxOutputTokens = Infinity } = request;
  const isShort = maxOutputTokens < takes.min_output_tokens;
  if (isShort) losses.add('max_tokens');
  const lost: string[] = [];
  const own = yield* withoutForeign(request, protocol, ({ path }) => {
    if (path === undefined) losses.add('builtin_tools');
    else lost.push(path);
  });
  const { turns: said, tools } = takes.custom_tools ? own : yield* fitCustomTools(own, losses);
  const choice = fitChoice({ ...sampled, tools }, takes, losses);
  const isStopped = reasoning.state === 'off' && !takes.budget_after_calls;
  const told = isStopped ? yield* withoutReasoning(said, losses) : said;
  const turns = yield* fitTurns(told, takes, losses);
  const read = yield* fitDocuments(turns, takes.document_types);
  const called = yield* fitToolIds(read, takes);
  const reasoned = yield* withReasonedCalls(called, { protocol, takes });
  const fitting = yield* fitCalls(reasoned, { protocol, takes }, losses);
  const { output } = sampled;
  const { named, names } = yield* fitNames({ turns: fitting, ...choice, output }, takes);
  const limited = isShort ? { ...sampled, maxOutputTokens: takes.min_output_tokens } : sampled;
  return Object.assign({}, limited, named, { reasoning, takes, lost, names });
}
