import type { Steps } from '../../../core/turns/in-turns.ts';
import { fitRequest } from '../../capabilities/fit-request.ts';
import type { FittingRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical/codec.ts';
import { writeTools } from '../../canonical/tools.ts';
import type { CanonicalRequest, Tool, Turn } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { defined } from '../../json-fields.ts';
import { writeInput } from './write-input.ts';

/**
 * A Responses request for a provider, its members in a fixed order with tools and system texts first, so
 * that prompt caches hit. Nothing is kept there, and reasoning comes encrypted, so that it can be sent
 * back.
 */
export function* writeResponsesRequest(
  asked: CanonicalRequest,
  target: RequestTarget,
): Steps<Encoded> {
  const losses = new Set<Feature>();
  const request = yield* fitRequest(asked, { protocol: 'responses', target }, losses);
  for (const [field, feature] of UNSAID) if (request[field] !== undefined) losses.add(feature);
  const { logprobs, stream } = request;
  const include = [
    // Models that never reason refuse to be asked for it.
    ...(request.takes.thinking === 'none' ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ];
  const value = {
    model: target.model,
    ...writeTools(request, losses, { writeTool, writeChoice }),
    ...(yield* writeTurns(request.turns, losses)),
    ...defined({
      max_output_tokens: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      reasoning: writeReasoning(request),
      text: writeText(request),
      top_logprobs: logprobs === 0 ? undefined : logprobs,
      user: request.user,
      metadata: request.metadata,
      service_tier: request.serviceTier,
    }),
    ...(include.length > 0 && { include }),
    store: false,
    ...(stream && { stream }),
  };
  return { value, losses: [...losses], lost: request.lost, names: request.names };
}

const UNSAID = [
  ['topK', 'top_k'],
  ['stop', 'stop_sequences'],
  ['seed', 'seed'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
] as const satisfies readonly (readonly [keyof CanonicalRequest, Feature])[];

const writeChoice = (name: string, isCustom: boolean): object => ({
  type: isCustom ? 'custom' : 'function',
  name,
});

function writeTool(tool: Tool): unknown {
  if (tool.type === 'opaque') return tool.value;
  const { name, description, parameters = null, strict = false, custom } = tool;
  if (custom) {
    const { grammar } = custom;
    const format = grammar && { type: 'grammar', ...grammar };
    return { type: 'custom', name, ...defined({ description, format }) };
  }
  // Strict is the default here and in no other protocol, so it is said.
  return { type: 'function', name, ...defined({ description }), parameters, strict };
}

/** The first system text goes where a prompt begins. */
function* writeTurns(turns: readonly Turn[], losses: Set<Feature>): Steps<object> {
  const [first, ...rest] = turns;
  const instructions = first && plainSystem(first);
  return instructions === undefined
    ? { input: yield* writeInput(turns, losses) }
    : { instructions, input: yield* writeInput(rest, losses) };
}

function plainSystem({ role, name, parts }: Turn): string | undefined {
  const [only] = parts;
  if (role !== 'system' || name !== undefined || parts.length !== 1) return undefined;
  return only?.type === 'text' && !only.cache ? only.text : undefined;
}

function writeReasoning({ reasoning }: FittingRequest): object | undefined {
  const { state, effort, show } = reasoning;
  const asked = defined({
    effort: state === 'off' ? 'none' : effort,
    summary: show ? 'auto' : undefined,
  });
  return Object.keys(asked).length > 0 ? asked : undefined;
}

function writeText({ output, verbosity }: FittingRequest): object | undefined {
  const text = defined({ format: writeFormat(output), verbosity });
  return Object.keys(text).length > 0 ? text : undefined;
}

function writeFormat(output: CanonicalRequest['output']): object | undefined {
  if (!output) return undefined;
  if (output.type === 'json') return { type: 'json_object' };
  const { name = 'answer', description, schema, strict } = output;
  return { type: 'json_schema', name, ...defined({ description }), schema, ...defined({ strict }) };
}
