import { parseObjectKeepingDigits } from '../../../core/json/digits.ts';
import type { JsonObject } from '../json.ts';
import { toMessagesError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';
import type { Reply, ReplyUsage } from '../reply.ts';

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Messages: thinking, text and tool_use blocks. */
export const messagesRenderer: Renderer = {
  body: (rendering) => ({
    ...toMessage(
      rendering,
      toBlocks(rendering).map(({ value }) => value),
    ),
    stop_reason: stopReason(rendering.reply),
  }),
  error: toMessagesError,
  stream: {
    frames: toFrames,
    error: (error) => ({ kind: 'close', event: 'error', data: toMessagesError(error) }),
  },
};

/** A whole content block, how it starts, and the deltas in between. */
interface Block {
  value: JsonObject;
  start: JsonObject;
  deltas: JsonObject[];
}

function toFrames(rendering: Rendering): Frame[] {
  const { reply } = rendering;
  const message = toMessage(rendering, []);
  return [
    frame('open', { type: 'message_start', message }),
    frame('open', { type: 'ping' }),
    ...toBlocks(rendering).flatMap(({ start, deltas }, index) => [
      frame(start.type === 'tool_use' ? 'content' : 'open', {
        type: 'content_block_start',
        index,
        content_block: start,
      }),
      ...deltas.map((delta) => frame('content', { type: 'content_block_delta', index, delta })),
      frame('close', { type: 'content_block_stop', index }),
    ]),
    frame('close', {
      type: 'message_delta',
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      ...(reply.usage && { usage: toMessagesUsage(reply.usage) }),
    }),
    frame('last', { type: 'message_stop' }),
  ];
}

function frame(kind: Frame['kind'], data: JsonObject & { type: string }): Frame {
  return { kind, event: data.type, data };
}

function toBlocks({ reply, id }: Rendering): Block[] {
  const blocks = reply.toolCalls.map((call): Block => {
    const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
    return {
      value: { ...start, input: parseObjectKeepingDigits(call.arguments) ?? {} },
      start,
      deltas: call.chunks.map((text) => ({ type: 'input_json_delta', partial_json: text })),
    };
  });
  const text = reply.refusal ?? reply.text;
  if (text !== '' || blocks.length === 0) {
    blocks.unshift({
      value: { type: 'text', text },
      start: { type: 'text', text: '' },
      deltas: (reply.refusal === undefined ? reply.textChunks : reply.refusalChunks).map(
        (piece) => ({
          type: 'text_delta',
          text: piece,
        }),
      ),
    });
  }
  if (reply.reasoning) blocks.unshift(toThinking(reply, id));
  return blocks;
}

function toThinking(reply: Reply, id: string): Block {
  const signature = Buffer.from(`mock:${id}`).toString('base64');
  return {
    value: { type: 'thinking', thinking: reply.reasoning, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...reply.reasoningChunks.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature },
    ],
  };
}

/** Started messages have spent one output token; a finished one carries the whole count. */
function toMessage({ request, reply, id }: Rendering, content: JsonObject[]): JsonObject {
  const usage = reply.usage && toMessagesUsage(reply.usage);
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    stop_reason: null,
    stop_sequence: null,
    ...(usage && { usage: content.length > 0 ? usage : { ...usage, output_tokens: 1 } }),
  };
}

function stopReason({ finish, refusal }: Reply): string {
  return refusal === undefined ? (STOP_REASONS[finish] ?? finish) : 'refusal';
}

function toMessagesUsage(usage: ReplyUsage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}
