import { fitRequest } from '../../capabilities/fit-request.ts';
import type { FittingRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical-codec.ts';
import type { CanonicalRequest, Tool, Turn } from '../../canonical.ts';
import type { Feature } from '../../features.ts';
import { defined } from '../../json-fields.ts';
import { writeInput } from './write-input.ts';

/**
 * A Responses request for a provider, its members in a fixed order with tools and system texts first, so
 * that prompt caches hit. Nothing is kept there, and reasoning comes encrypted, so that it can be sent
 * back.
 */
export function writeResponsesRequest(asked: CanonicalRequest, target: RequestTarget): Encoded {
  const losses = new Set<Feature>();
  const request = fitRequest(asked, { protocol: 'responses', target }, losses);
  for (const [field, feature] of UNSAID) if (request[field] !== undefined) losses.add(feature);
  const { logprobs, stream } = request;
  const include = [
    'reasoning.encrypted_content',
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ];
  const value = {
    model: target.model,
    ...writeTools(request, losses),
    ...writeTurns(request.turns, losses),
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
    include,
    store: false,
    ...(stream && { stream }),
  };
  return { value, losses: [...losses] };
}

const UNSAID = [
  ['topK', 'top_k'],
  ['stop', 'stop_sequences'],
  ['seed', 'seed'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
] as const satisfies readonly (readonly [keyof CanonicalRequest, Feature])[];

function writeTools(request: FittingRequest, losses: Set<Feature>): object {
  const { toolChoice, parallelToolCalls } = request;
  const tools = request.tools.flatMap((tool) => {
    const written = writeTool(tool);
    if (!written) losses.add('builtin_tools');
    return written ? [written] : [];
  });
  if (tools.length === 0) return {};
  const choice =
    typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.name } : toolChoice;
  return { tools, ...defined({ tool_choice: choice, parallel_tool_calls: parallelToolCalls }) };
}

function writeTool(tool: Tool): unknown {
  if (tool.type === 'opaque') return tool.origin === 'responses' ? tool.value : undefined;
  const { name, description, parameters = null, strict = false } = tool;
  // Strict is the default here and in no other protocol, so it is said.
  return { type: 'function', name, ...defined({ description }), parameters, strict };
}

/** The first system text goes where a prompt begins. */
function writeTurns(turns: readonly Turn[], losses: Set<Feature>): object {
  const [first, ...rest] = turns;
  const instructions = first && plainSystem(first);
  return instructions === undefined
    ? { input: writeInput(turns, losses) }
    : { instructions, input: writeInput(rest, losses) };
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
