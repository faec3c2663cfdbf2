import type { ContentBlock, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import { isJsonObject } from '../../../core/json/value.ts';
import type { EventDelta, PlacedEvent, SessionEvent } from '../../../sessions/log/session-event.ts';
import { isPlaced } from '../follow-turn.ts';
import { ShownText } from '../shown-text.ts';

/** Types of events of which parts can be shown. */
export const SHOWN_IN_PARTS: readonly string[] = ['agent.message'];

/** A turn as the updates of an ACP session. Text that was sent in parts is not sent again. */
export class AcpUpdates {
  readonly #shown = new ShownText();

  of(item: PlacedEvent | EventDelta): SessionUpdate[] {
    if (!isPlaced(item)) return this.#fromDelta(item);
    return FROM_EVENT[item.event.type]?.(item.event, this.#shown) ?? [];
  }

  #fromDelta({ type, event_id: of, delta }: EventDelta): SessionUpdate[] {
    if (type !== 'event_delta' || !isJsonObject(delta) || !isJsonObject(delta['content']))
      return [];
    const { text } = delta['content'];
    if (typeof text !== 'string' || text === '') return [];
    const id = String(of);
    this.#shown.grow(id, text);
    return [said('agent_message_chunk', id, text)];
  }
}

type Convert = (event: SessionEvent, shown: ShownText) => SessionUpdate[];

const FROM_EVENT: Readonly<Record<string, Convert>> = {
  'agent.message': ({ id, content }, shown) => {
    const rest = shown.rest(id, textOf(content));
    return rest === '' ? [] : [said('agent_message_chunk', id, rest)];
  },
  'agent.thinking': ({ id, thinking }) =>
    typeof thinking === 'string' ? [said('agent_thought_chunk', id, thinking)] : [],
  'agent.tool_use': toCall,
  'agent.mcp_tool_use': toCall,
  'agent.custom_tool_use': toCall,
  'user.tool_confirmation': ({ tool_use_id: id, result }) =>
    result === 'allow'
      ? [{ sessionUpdate: 'tool_call_update', toolCallId: String(id), status: 'in_progress' }]
      : [],
  'agent.tool_result': toCallUpdate('tool_use_id'),
  'agent.mcp_tool_result': toCallUpdate('mcp_tool_use_id'),
  'user.tool_result': toCallUpdate('tool_use_id'),
  'user.custom_tool_result': toCallUpdate('custom_tool_use_id'),
};

function said(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  messageId: string,
  text: string,
): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: 'text', text } };
}

function toCall({
  id,
  name,
  input,
  evaluated_permission: permission,
}: SessionEvent): SessionUpdate[] {
  const status = permission === 'ask' ? 'pending' : 'in_progress';
  const call = { toolCallId: id, title: String(name), kind: 'other', status } as const;
  return [{ sessionUpdate: 'tool_call', ...call, rawInput: input }];
}

function toCallUpdate(idMember: string): Convert {
  return ({ [idMember]: id, content, is_error: isError }) => [
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: String(id),
      status: isError === true ? 'failed' : 'completed',
      content: partsOf(content).flatMap(toToolContent),
    },
  ];
}

function toToolContent(part: Record<string, unknown>): ToolCallContent[] {
  const content = toBlock(part);
  return content ? [{ type: 'content', content }] : [];
}

/** Undefined for what ACP has no block for. */
function toBlock({ type, text, source }: Record<string, unknown>): ContentBlock | undefined {
  if (type === 'text') return { type, text: String(text) };
  if (type !== 'image' || !isJsonObject(source) || source['type'] !== 'base64') return undefined;
  return { type, mimeType: String(source['media_type']), data: String(source['data']) };
}

function textOf(content: unknown): string {
  return partsOf(content)
    .map(({ type, text }) => (type === 'text' ? String(text) : ''))
    .join('');
}

function partsOf(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
