import type { Steps } from '../../../core/turns/in-turns.ts';
import { fitRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical/codec.ts';
import { loseSchemaNotes } from '../../canonical/output.ts';
import { hasCacheMark, loseChoice } from '../../canonical/tools.ts';
import type { CanonicalRequest, Tool } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { writeConfig } from './write-config.ts';
import { writeConversation } from './write-contents.ts';

/** System, tools and contents come first and in this order, so that prompt caches hit. */
export function* writeGenerateContentRequest(
  asked: CanonicalRequest,
  target: RequestTarget,
): Steps<Encoded> {
  const losses = new Set<Feature>();
  const request = yield* fitRequest(asked, { protocol: 'generate-content', target }, losses);
  const { systemInstruction, contents } = yield* writeConversation(request.turns, losses);
  const tools = writeTools(request.tools, losses);
  const generationConfig = writeConfig(request);
  const { toolChoice, parallelToolCalls } = request;
  if (tools.length === 0) loseChoice({ toolChoice, parallelToolCalls }, losses);
  else if (parallelToolCalls === false) losses.add('parallel_tool_calls');
  loseSchemaNotes(request.output, losses);
  if (request.verbosity !== undefined) losses.add('verbosity');
  if (request.user !== undefined) losses.add('user');
  if (request.metadata !== undefined) losses.add('metadata');
  if (request.serviceTier !== undefined) losses.add('service_tier');
  return {
    value: {
      ...(systemInstruction && { systemInstruction }),
      ...(tools.length > 0 && { tools }),
      ...(toolChoice !== undefined &&
        tools.length > 0 && {
          toolConfig: { functionCallingConfig: writeChoice(toolChoice) },
        }),
      contents,
      ...(generationConfig && { generationConfig }),
    },
    losses: [...losses],
    lost: request.lost,
    names: request.names,
  };
}

function writeTools(tools: readonly Tool[], losses: Set<Feature>): object[] {
  if (hasCacheMark(tools)) losses.add('tool_cache_control');
  const declarations: object[] = [];
  for (const tool of tools) {
    if (tool.type === 'function') {
      const { name, description, parameters, strict } = tool;
      if (strict === true) losses.add('strict_tools');
      declarations.push({
        name,
        ...(description !== undefined && { description }),
        ...(parameters !== undefined && { parametersJsonSchema: parameters }),
      });
    } else losses.add('builtin_tools');
  }
  return declarations.length > 0 ? [{ functionDeclarations: declarations }] : [];
}

function writeChoice(choice: NonNullable<CanonicalRequest['toolChoice']>): object {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice] };
}
