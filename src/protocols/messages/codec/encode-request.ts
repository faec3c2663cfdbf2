import { GatewayError } from '../../../core/errors.ts';
import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { fitRequest } from '../../capabilities/fit-request.ts';
import type { FittingRequest } from '../../capabilities/fit-request.ts';
import type { Encoded, RequestTarget } from '../../canonical/codec.ts';
import { loseChoice } from '../../canonical/tools.ts';
import type { CanonicalRequest, FunctionTool, Tool, Turn } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import type { Members } from './members.ts';
import { cacheControl, toRequestBlock } from './to-block.ts';
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
  const system = toSystem(request.turns, losses);
  const messages = yield* toMessages(request.turns, losses);
  if (messages.length === 0) throw nothingLeft();
  const value = {
    ...(tools.length > 0 && { tools, ...toToolChoice(request) }),
    ...(system !== undefined && { system }),
    model: target.model,
    ...toSettings(request, losses),
    messages,
    ...(request.stream && { stream: true }),
  };
  return { value, losses: [...losses], lost: request.lost };
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

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** All system texts, wherever they stand: this protocol has one place for them. */
function toSystem(turns: readonly Turn[], losses: Set<Feature>): string | Members[] | undefined {
  const blocks = turns.filter(isSystem).flatMap((turn) => toBlocks(turn, losses));
  return blocks.length === 0 ? undefined : (plainText(blocks) ?? blocks);
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string | Members[];
}

/** Results of tools are the user's words here, in one message with those that follow them. */
function* toMessages(turns: readonly Turn[], losses: Set<Feature>): Steps<Message[]> {
  const groups: { role: Message['role']; blocks: Members[]; isOpen: boolean }[] = [];
  yield* eachInSteps(turns, (turn) => {
    if (isSystem(turn)) return;
    const blocks = toBlocks(turn, losses);
    const isOpen = turn.role === 'tool';
    const last = groups.at(-1);
    if (last?.isOpen && turn.role !== 'assistant') {
      for (const block of blocks) last.blocks.push(block);
      last.isOpen = isOpen;
    } else if (blocks.length > 0) {
      groups.push({ role: turn.role === 'assistant' ? 'assistant' : 'user', blocks, isOpen });
    }
  });
  return groups.map(({ role, blocks }) => ({ role, content: plainText(blocks) ?? blocks }));
}

function toBlocks({ name, parts }: Turn, losses: Set<Feature>): Members[] {
  if (name !== undefined) losses.add('participant_names');
  return parts.map((part) => toRequestBlock(part, losses)).filter((block) => block !== undefined);
}

/** The text of content that is nothing but one text. */
function plainText(blocks: readonly Members[]): string | undefined {
  const [only] = blocks;
  if (blocks.length !== 1 || only?.['type'] !== 'text' || 'cache_control' in only) return undefined;
  return only['text'] as string;
}
