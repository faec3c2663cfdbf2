import type { MockProtocol } from './mock-route.ts';
import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** One entry of a conversation, whatever the protocol. */
export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
}

const MAX_DEPTH = 8;

const READERS: Readonly<Record<MockProtocol, (body: JsonObject) => Turn[]>> = {
  chat: (body) => asList(body.messages).map(fromChatMessage),
  responses: (body) => [...toSystem(body.instructions), ...toUserOrItems(body.input)],
  messages: (body) => [...toSystem(body.system), ...asList(body.messages).flatMap(fromMessage)],
  'generate-content': (body) => [
    ...toSystem(body.systemInstruction),
    ...asList(body.contents).flatMap(fromContent),
  ],
  interactions: (body) => [...toSystem(body.system_instruction), ...toUserOrItems(body.input)],
  embeddings: (body) => [{ role: 'user', text: textOf(body.input) }],
  images: (body) => [{ role: 'user', text: textOf(body.prompt) }],
  videos: (body) => [{ role: 'user', text: textOf(body.prompt) }],
};

/** Reads the turns of a request, in order. Shapes that are not understood count as empty text. */
export function toConversation(protocol: MockProtocol, body: JsonObject): Turn[] {
  return READERS[protocol](body);
}

/** 1 before any assistant turn; consecutive assistant entries are one turn. */
export function turnNumber(turns: readonly Turn[]): number {
  return (
    1 +
    turns.filter(({ role }, i) => role === 'assistant' && turns[i - 1]?.role !== 'assistant').length
  );
}

export function lastUserText(turns: readonly Turn[]): string {
  return turns.findLast(({ role }) => role === 'user')?.text ?? '';
}

function fromChatMessage(message: JsonObject): Turn {
  const { role } = message;
  const text = textOf(message.content);
  if (role === 'assistant') return { role, text };
  if (role === 'tool' || role === 'function') return { role: 'tool', text };
  return { role: role === 'user' ? 'user' : 'system', text };
}

/** An input item of Responses or a step of Interactions. */
function fromItem(item: JsonObject): Turn {
  const type = typeof item.type === 'string' ? item.type : 'message';
  const text = textOf(item);
  if (/_(?:output|result)$/.test(type) && type !== 'model_output') return { role: 'tool', text };
  if (/(?:_call|^reasoning|^thought|^model_output)$/.test(type)) return { role: 'assistant', text };
  if (item.role === 'assistant' || item.role === 'model') return { role: 'assistant', text };
  return { role: item.role === 'system' || item.role === 'developer' ? 'system' : 'user', text };
}

function fromMessage(message: JsonObject): Turn[] {
  if (message.role === 'assistant') return [{ role: 'assistant', text: textOf(message.content) }];
  if (message.role === 'system') return [{ role: 'system', text: textOf(message.content) }];
  return toUserTurns(message.content, (block) => block.type === 'tool_result');
}

function fromContent(content: JsonObject): Turn[] {
  if (content.role === 'model') return [{ role: 'assistant', text: textOf(content.parts) }];
  return toUserTurns(content.parts, (part) => 'functionResponse' in part);
}

/** Two protocols put tool results into user messages; here they become turns of their own. */
function toUserTurns(content: unknown, isToolResult: (part: JsonObject) => boolean): Turn[] {
  const parts = asList(content);
  const results = parts.filter(isToolResult);
  if (results.length === 0) return [{ role: 'user', text: textOf(content) }];
  const rest = textOf(parts.filter((part) => !isToolResult(part)));
  const turns: Turn[] = [{ role: 'tool', text: textOf(results) }];
  return rest ? [...turns, { role: 'user', text: rest }] : turns;
}

/** The input may be a text, one content part, several parts, or a list of items. */
function toUserOrItems(input: unknown): Turn[] {
  const items = asList(isJsonObject(input) ? [input] : input);
  return items.length > 0 ? items.map(fromItem) : [{ role: 'user', text: textOf(input) }];
}

function toSystem(value: unknown): Turn[] {
  const text = textOf(value);
  return text ? [{ role: 'system', text }] : [];
}

function asList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) {
    return value
      .map((part) => textOf(part, depth + 1))
      .filter(Boolean)
      .join('\n');
  }
  if (!isJsonObject(value)) return '';
  if (isJsonObject(value.functionResponse))
    return JSON.stringify(value.functionResponse.response ?? null);
  const inner = value.text ?? value.content ?? value.parts ?? value.output ?? value.result;
  return textOf(inner, depth + 1);
}
