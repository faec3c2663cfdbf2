import { parseObjectKeepingDigits } from '../../../core/json/digits.ts';
import type { JsonObject } from '../json.ts';
import { googleStatus, toGoogleError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';
import type { Reply, ReplyUsage } from '../reply.ts';

const SIGNATURE = Buffer.from('mock').toString('base64');

/** Interactions: `steps` of thought, model_output and function_call; background work starts running. */
export const interactionsRenderer: Renderer = {
  body: (rendering) =>
    rendering.request.body.background === true
      ? toRunningInteraction(rendering)
      : toFinishedInteraction(rendering),
  error: toGoogleError,
  stream: {
    frames: toFrames,
    error: (error) =>
      frame('close', {
        event_type: 'error',
        error: { code: String(error.code ?? googleStatus(error)), message: error.message },
      }),
  },
};

/** No output and no usage. */
export function toRunningInteraction(rendering: Rendering): JsonObject {
  return toInteraction(rendering, { status: 'in_progress' });
}

export function toFinishedInteraction(rendering: Rendering): JsonObject {
  const { reply } = rendering;
  return toInteraction(rendering, {
    status: finalStatus(reply),
    steps: toSteps(reply).map(({ value }) => value),
    ...(reply.usage && { usage: toInteractionUsage(reply.usage) }),
  });
}

export function interactionId(id: string): string {
  return `int_${id}`;
}

/** A whole step, how it starts, and the deltas in between. */
interface Step {
  value: JsonObject;
  start: JsonObject;
  deltas: JsonObject[];
}

function toFrames(rendering: Rendering): Frame[] {
  return [
    frame('open', {
      event_type: 'interaction.created',
      interaction: toRunningInteraction(rendering),
    }),
    ...toSteps(rendering.reply).flatMap(({ start, deltas }, index) => [
      frame(start.type === 'function_call' ? 'content' : 'open', {
        event_type: 'step.start',
        index,
        step: start,
      }),
      ...deltas.map((delta) => frame('content', { event_type: 'step.delta', index, delta })),
      frame('close', { event_type: 'step.stop', index }),
    ]),
    frame('last', {
      event_type: 'interaction.completed',
      interaction: toFinishedInteraction(rendering),
    }),
  ];
}

function frame(kind: Frame['kind'], data: JsonObject & { event_type: string }): Frame {
  return { kind, event: data.event_type, data };
}

function toSteps(reply: Reply): Step[] {
  const steps = reply.toolCalls.map((call): Step => {
    const start = { type: 'function_call', id: call.id, name: call.name, arguments: {} };
    return {
      value: { ...start, arguments: parseObjectKeepingDigits(call.arguments) ?? {} },
      start,
      deltas: call.chunks.map((text) => ({ type: 'arguments_delta', arguments: text })),
    };
  });
  const text = reply.refusal ?? reply.text;
  if (text !== '' || steps.length === 0) {
    steps.unshift({
      value: { type: 'model_output', content: [{ type: 'text', text }] },
      start: { type: 'model_output' },
      deltas: (reply.refusal === undefined ? reply.textChunks : reply.refusalChunks).map(
        (piece) => ({
          type: 'text',
          text: piece,
        }),
      ),
    });
  }
  if (reply.reasoning) steps.unshift(toThought(reply));
  return steps;
}

function toThought(reply: Reply): Step {
  const summary = (text: string): JsonObject => ({ type: 'text', text });
  return {
    value: { type: 'thought', summary: [summary(reply.reasoning)], signature: SIGNATURE },
    start: { type: 'thought' },
    deltas: [
      ...reply.reasoningChunks.map((text) => ({ type: 'thought_summary', content: summary(text) })),
      { type: 'thought_signature', signature: SIGNATURE },
    ],
  };
}

function toInteraction({ request, id, created }: Rendering, rest: JsonObject): JsonObject {
  const at = new Date(created * 1000).toISOString();
  const previous = request.body.previous_interaction_id;
  return {
    id: interactionId(id),
    object: 'interaction',
    model: request.model,
    created: at,
    updated: at,
    ...(typeof previous === 'string' && { previous_interaction_id: previous }),
    ...rest,
  };
}

function finalStatus({ finish }: Reply): string {
  if (finish === 'stop') return 'completed';
  if (finish === 'tool_calls') return 'requires_action';
  return finish === 'length' || finish === 'content_filter' ? 'incomplete' : finish;
}

function toInteractionUsage(usage: ReplyUsage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    total_input_tokens: input,
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output - usage.reasoning,
    total_thought_tokens: usage.reasoning,
    total_tokens: input + usage.output,
  };
}
