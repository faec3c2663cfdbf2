import { parseObjectKeepingDigits } from '../../../core/json/digits.ts';
import type { JsonObject } from '../json.ts';
import { toGoogleError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';
import type { Reply, ReplyUsage } from '../reply.ts';

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
};

/** Generate-content: the same response object whole, as SSE events or as elements of a JSON array. */
export const generateContentRenderer: Renderer = {
  body(rendering) {
    const { reply } = rendering;
    const parts = [
      ...(reply.reasoning ? [{ text: reply.reasoning, thought: true }] : []),
      ...(reply.text || reply.refusal ? [{ text: reply.refusal ?? reply.text }] : []),
      ...toCallParts(reply),
    ];
    return toResponse(rendering, parts, true);
  },
  error: toGoogleError,
  stream: {
    frames: toFrames,
    error: (error) => ({ kind: 'close', data: toGoogleError(error) }),
  },
};

function toFrames(rendering: Rendering): Frame[] {
  const { reply } = rendering;
  const parts = [
    ...reply.reasoningChunks.map((text) => ({ text, thought: true })),
    ...(reply.refusal === undefined ? reply.textChunks : reply.refusalChunks).map((text) => ({
      text,
    })),
    ...toCallParts(reply),
  ];
  return [
    ...parts.map((part): Frame => ({
      kind: 'content',
      data: toResponse(rendering, [part], false),
    })),
    { kind: 'last', data: toResponse(rendering, [{ text: '' }], true) },
  ];
}

function toCallParts(reply: Reply): JsonObject[] {
  return reply.toolCalls.map((call) => ({
    functionCall: {
      id: call.id,
      name: call.name,
      args: parseObjectKeepingDigits(call.arguments) ?? {},
    },
  }));
}

function toResponse(
  { request, reply, id }: Rendering,
  parts: JsonObject[],
  final: boolean,
): JsonObject {
  const finish =
    reply.refusal === undefined ? (FINISH_REASONS[reply.finish] ?? reply.finish) : 'SAFETY';
  return {
    candidates: [
      { content: { role: 'model', parts }, ...(final && { finishReason: finish }), index: 0 },
    ],
    ...(final && reply.usage && { usageMetadata: toUsageMetadata(reply.usage) }),
    modelVersion: request.model,
    responseId: id,
  };
}

/** Thoughts are counted in addition to the candidates' tokens here, not within them. */
function toUsageMetadata(usage: ReplyUsage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    promptTokenCount: input,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: input + usage.output,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
  };
}
