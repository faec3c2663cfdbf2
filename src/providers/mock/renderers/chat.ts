import { isJsonObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { toOpenAiError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';
import type { Reply, ReplyUsage } from '../reply.ts';

const REASONING = 'reasoning_content';

/** Chat completions: one choice, `chat.completion` and `chat.completion.chunk`. */
export const chatRenderer: Renderer = {
  body({ request, reply, id, created, reasoningMember }) {
    return {
      id: `chatcmpl-${id}`,
      object: 'chat.completion',
      created,
      model: request.model,
      choices: [
        {
          index: 0,
          message: toMessage(reply, reasoningMember),
          logprobs: null,
          finish_reason: reply.finish,
        },
      ],
      ...(reply.usage && { usage: toChatUsage(reply.usage) }),
      system_fingerprint: 'fp_mock',
    };
  },
  error: toOpenAiError,
  stream: {
    frames: toFrames,
    error: (error) => ({ kind: 'close', data: toOpenAiError(error) }),
  },
};

function toMessage(reply: Reply, reasoningMember = REASONING): JsonObject {
  const { refusal, toolCalls } = reply;
  return {
    role: 'assistant',
    content:
      reply.text === '' && (refusal !== undefined || toolCalls.length > 0) ? null : reply.text,
    refusal: refusal ?? null,
    ...(reply.reasoning && { [reasoningMember]: reply.reasoning }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
  };
}

function toFrames({
  request,
  reply,
  id,
  created,
  reasoningMember = REASONING,
}: Rendering): Frame[] {
  const options = request.body.stream_options;
  const withUsage =
    isJsonObject(options) && options.include_usage === true && reply.usage !== undefined;
  const chunk = (choices: JsonObject[], usage: JsonObject | null = null): JsonObject => ({
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created,
    model: request.model,
    system_fingerprint: 'fp_mock',
    choices,
    ...(withUsage && { usage }),
  });
  const delta = (value: JsonObject, finish: string | null = null): JsonObject =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }]);
  const content = (value: JsonObject): Frame => ({ kind: 'content', data: delta(value) });

  return [
    { kind: 'open', data: delta({ role: 'assistant', content: '', refusal: null }) },
    ...reply.reasoningChunks.map((text) => content({ [reasoningMember]: text })),
    ...reply.textChunks.map((text) => content({ content: text })),
    ...reply.refusalChunks.map((text) => content({ refusal: text })),
    ...toToolDeltas(reply).map(content),
    { kind: 'close', data: delta({}, reply.finish) },
    ...(withUsage && reply.usage
      ? [{ kind: 'close' as const, data: chunk([], toChatUsage(reply.usage)) }]
      : []),
    { kind: 'last', data: '[DONE]' },
  ];
}

/** Id and name come once, then pieces of the argument text. */
function toToolDeltas(reply: Reply): JsonObject[] {
  return reply.toolCalls.flatMap((call, index) => [
    {
      tool_calls: [
        { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
      ],
    },
    ...call.chunks.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]);
}

function toChatUsage(usage: ReplyUsage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: input,
    completion_tokens: usage.output,
    total_tokens: input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
