import { parseObjectKeepingDigits } from '../../core/json/digits.ts';
import { isStorable } from '../../store/value-codec.ts';
import type { Part, ToolCallPart } from '../../protocols/canonical/canonical.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { CallableTool } from '../tools/agent-tools.ts';
import type { ShownAnswer } from './shown-answer.ts';

/** Reason that a client reads in place of a call that the model got wrong. */
type Refusal = 'unknown' | 'arguments' | 'unkept';

const REFUSALS: Readonly<Record<Refusal, string>> = {
  unknown: 'There is no such tool.',
  arguments: 'The arguments are no JSON object; call again with complete arguments.',
  unkept:
    'The arguments hold a number beyond 1.8e308 or are nested too deeply; call again with a text in its place, or with fewer levels.',
};

/** The events of an answer, in its order; texts in a row are one message. */
export function toAnswerEvents(
  parts: readonly Part[],
  tools: ReadonlyMap<string, CallableTool>,
  shown: ShownAnswer,
): NewEvent[] {
  return parts.flatMap((part, index) => {
    if (part.type === 'text') return toMessage(parts, index, shown);
    if (part.type === 'reasoning') return toThinking(part, shown.idOf(index));
    return part.type === 'tool_call' ? toUse(part, tools.get(part.name), shown) : [];
  });
}

function toMessage(parts: readonly Part[], first: number, shown: ShownAnswer): NewEvent[] {
  if (parts[first - 1]?.type === 'text') return [];
  const end = parts.findIndex((part, index) => index > first && part.type !== 'text');
  const run = parts.slice(first, end < 0 ? undefined : end);
  const content = run.flatMap((part) =>
    part.type === 'text' && part.text !== '' ? [{ type: 'text', text: part.text }] : [],
  );
  return content.length === 0 ? [] : [{ type: 'agent.message', id: shown.idOf(first), content }];
}

/** Event of a reasoning part, and what the model's provider needs to see again. */
function toThinking(
  { text, signature }: Extract<Part, { type: 'reasoning' }>,
  id: string,
): NewEvent[] {
  if (text === '' && !signature) return [];
  return [
    {
      type: 'agent.thinking',
      id,
      ...(text !== '' && { thinking: text }),
      ...(signature && { signature: signature.value }),
    },
  ];
}

function toUse(call: ToolCallPart, tool: CallableTool | undefined, shown: ShownAnswer): NewEvent[] {
  const id = shown.newId();
  const input = call.arguments.trim() === '' ? {} : parseObjectKeepingDigits(call.arguments);
  if (!tool) return toRefused(id, call, 'unknown');
  if (!input) return toRefused(id, call, 'arguments');
  if (!isStorable(input)) return toRefused(id, call, 'unkept');
  const { kind, name, server, permission } = tool;
  if (kind === 'custom') return [{ type: 'agent.custom_tool_use', id, name, input }];
  const use = { id, name, input, evaluated_permission: permission };
  return kind === 'client'
    ? [{ type: 'agent.tool_use', ...use }]
    : [{ type: 'agent.mcp_tool_use', ...use, mcp_server_name: server }];
}

/** The model gets the refusal at once, so that it can correct the call. */
function toRefused(id: string, { name }: ToolCallPart, refusal: Refusal): NewEvent[] {
  const content = [{ type: 'text', text: REFUSALS[refusal] }];
  return [
    { type: 'agent.tool_use', id, name, input: {}, evaluated_permission: 'deny' },
    { type: 'agent.tool_result', tool_use_id: id, content, is_error: true },
  ];
}
