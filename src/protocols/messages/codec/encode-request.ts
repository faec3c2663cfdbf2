import { GatewayError } from '../../../core/errors.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { fitRequest } from '../../capabilities/fit-request.ts';
import type { FittingRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical/codec.ts';
import { loseChoice } from '../../canonical/tools.ts';
import type { CanonicalRequest, FunctionTool, Tool } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import type { Members } from './members.ts';
import { cacheControl } from './to-block.ts';
import { toConversation } from './to-conversation.ts';
import { toSettings } from './to-settings.ts';

/**
 * Writes a request in a fixed order, what stays the same between turns first, so that prompt caches hit.
 *
 * @throws GatewayError `unsupported_feature` for a conversation of which nothing is left
 */
export function* encodeMessagesRequest(
  asked: CanonicalRequest,
  target: RequestTarget,
): Steps<Encoded> {
  const losses = new Set<Feature>();
  // A limit is required here.
  const limited = Object.assign({}, asked, {
    maxOutputTokens: asked.maxOutputTokens ?? target.defaultMaxTokens,
  });
  const request = yield* fitRequest(limited, { protocol: 'messages', target }, losses);
  const tools = request.tools.map(toTool);
  if (tools.length === 0) loseChoice(request, losses);
  const { system, messages } = yield* toConversation(request.turns, losses);
  if (messages.length === 0) throw nothingLeft();
  const value = {
    ...(tools.length > 0 && { tools, ...toToolChoice(request) }),
    ...(system !== undefined && { system }),
    model: target.model,
    ...toSettings(request, losses),
    messages,
    ...(request.stream && { stream: true }),
  };
  return { value, losses: [...losses], lost: request.lost, names: request.names };
}

function nothingLeft(): GatewayError {
  const message =
    'the conversation has nothing that this route can be told: it takes texts, images and documents';
  return new GatewayError('unsupported_feature', { message });
}

function toTool(tool: Tool): Members {
  return tool.type === 'function' ? toFunction(tool) : (tool.value as Members);
}

function toFunction({ name, description, parameters, strict, cache }: FunctionTool): Members {
  return {
    name,
    ...(description !== undefined && { description }),
    // The one type that a schema may have, and must name.
    input_schema: {
      type: 'object',
      ...(isJsonObject(parameters) ? parameters : { properties: {} }),
    },
    ...(strict !== undefined && { strict }),
    ...cacheControl(cache),
  };
}

function toToolChoice({ toolChoice, parallelToolCalls }: FittingRequest): Members {
  const single = parallelToolCalls === false && toolChoice !== 'none';
  if (toolChoice === undefined && !single) return {};
  const choice =
    typeof toolChoice === 'object'
      ? { type: 'tool', name: toolChoice.name }
      : { type: toolChoice === 'required' ? 'any' : (toolChoice ?? 'auto') };
  return { tool_choice: { ...choice, ...(single && { disable_parallel_tool_use: true }) } };
}
