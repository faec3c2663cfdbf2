import type { Steps } from '../../../core/turns/in-turns.ts';
import { fitRequest } from '../../capabilities/fit-request.ts';
import type { FittingRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical/codec.ts';
import { writeTools } from '../../canonical/tools.ts';
import type { CanonicalRequest, Tool } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { defined } from '../../json-fields.ts';
import { writeMessages } from './write-messages.ts';

/**
 * A chat request for a provider, its members in a fixed order with tools and system texts first, so
 * that prompt caches hit.
 */
export function* writeChatRequest(asked: CanonicalRequest, target: RequestTarget): Steps<Encoded> {
  const losses = new Set<Feature>();
  const request = yield* fitRequest(asked, { protocol: 'chat', target }, losses);
  for (const [field, feature] of UNSAID) if (request[field] !== undefined) losses.add(feature);
  if (request.reasoning.show !== undefined) losses.add('reasoning_shown');
  const { stream, logprobs } = request;
  const value = {
    model: target.model,
    ...writeTools(request, losses, { writeTool, writeChoice }),
    messages: yield* writeMessages(request.turns, losses),
    ...defined({
      max_completion_tokens: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      stop: request.stop,
      seed: request.seed,
      presence_penalty: request.presencePenalty,
      frequency_penalty: request.frequencyPenalty,
      reasoning_effort: writeEffort(request),
      response_format: writeOutput(request.output),
      verbosity: request.verbosity,
      logprobs: logprobs === undefined ? undefined : true,
      top_logprobs: logprobs === 0 ? undefined : logprobs,
      user: request.user,
      service_tier: request.serviceTier,
    }),
    ...(stream && { stream }),
    ...(stream && target.askUsage && { stream_options: { include_usage: true } }),
  };
  return { value, losses: [...losses], lost: request.lost, names: request.names };
}

const UNSAID = [
  ['topK', 'top_k'],
  ['metadata', 'metadata'],
] as const satisfies readonly (readonly [keyof CanonicalRequest, Feature])[];

const writeChoice = (name: string, isCustom: boolean): object =>
  isCustom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };

function writeTool(tool: Tool): unknown {
  if (tool.type === 'opaque') return tool.value;
  const { name, description, parameters, strict, custom } = tool;
  if (custom) {
    const { grammar } = custom;
    const format = grammar && { type: 'grammar', grammar };
    return { type: 'custom', custom: { name, ...defined({ description, format }) } };
  }
  const schema = parameters ?? { type: 'object', properties: {} };
  const called = { name, ...defined({ description, parameters: schema, strict }) };
  return { type: 'function', function: called };
}

function writeEffort({ reasoning: { state, effort } }: FittingRequest): string | undefined {
  return state === 'off' ? 'none' : effort;
}

function writeOutput(output: CanonicalRequest['output']): object | undefined {
  if (!output) return undefined;
  if (output.type === 'json') return { type: 'json_object' };
  const { name = 'answer', description, schema, strict } = output;
  return {
    type: 'json_schema',
    json_schema: { name, ...defined({ description }), schema, ...defined({ strict }) },
  };
}
