import { isJsonObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { toOpenAiError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';
import type { Reply, ReplyToolCall, ReplyUsage } from '../reply.ts';

/** Responses: the public object and the full event sequence with `sequence_number`. */
export const responsesRenderer: Renderer = {
  body: (rendering) =>
    rendering.request.body.background === true
      ? toOpenResponse(rendering, 'queued')
      : toFinishedResponse(rendering),
  error: toOpenAiError,
  stream: {
    frames: toFrames,
    error: ({ message, type, code }, position) => ({
      kind: 'close',
      event: 'error',
      data: {
        type: 'error',
        sequence_number: position,
        code: code ?? type ?? 'server_error',
        message,
        param: null,
      },
    }),
  },
};

export function responseId(id: string): string {
  return `resp_${id}`;
}

/** One without output and usage. */
export function toOpenResponse(rendering: Rendering, status: Status): JsonObject {
  return { ...toResponse(rendering, [], status), usage: null };
}

export function toFinishedResponse(rendering: Rendering): JsonObject {
  return toResponse(rendering, toItems(rendering), finalStatus(rendering.reply));
}

/** The input of a request as a page of items, oldest first. */
export function toInputItems({ request, id }: Rendering): JsonObject {
  const data = toInput(request.body.input, id);
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: 'list', data, first_id: first, last_id: last, has_more: false };
}

/** The messages of the user and an encrypted rest. */
export function toCompacted({ request, reply, id, created }: Rendering): JsonObject {
  const rest = Buffer.from(reply.text).toString('base64');
  return {
    id: responseId(id),
    object: 'response.compaction',
    created_at: created,
    output: [
      ...toInput(request.body.input, id).filter(({ role }) => role === 'user'),
      { id: `cmp_${id}`, type: 'compaction', encrypted_content: rest },
    ],
    usage: reply.usage ? toResponsesUsage(reply.usage) : null,
  };
}

function toInput(input: unknown, id: string): JsonObject[] {
  const items = Array.isArray(input) ? input.filter(isJsonObject) : [{ content: input }];
  return items.map((item, index) => {
    const { role = 'user', content, type = 'message' } = item;
    const text = { type: 'input_text', text: content };
    const parts = typeof content === 'string' ? [text] : content;
    const own = type === 'message' ? { status: 'completed', role, content: parts } : {};
    return { id: `msg_${id}${index}`, type, ...item, ...own };
  });
}

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'cancelled' | 'failed';

/** A finished output item and the events that lead to it. */
interface Item {
  value: JsonObject;
  events(index: number): Event[];
}

type Event = JsonObject & { type: string };

function toFrames(rendering: Rendering): Frame[] {
  const items = toItems(rendering);
  const started = toResponse(rendering, [], 'in_progress');
  const status = finalStatus(rendering.reply);
  const events: Event[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...items.flatMap((item, index) => item.events(index)),
    { type: `response.${status}`, response: toResponse(rendering, items, status) },
  ];
  return events.map(({ type, ...rest }, i) => ({
    kind:
      i === events.length - 1
        ? 'last'
        : i < 2
          ? 'open'
          : type.endsWith('.delta')
            ? 'content'
            : 'close',
    event: type,
    data: { type, sequence_number: i, ...rest },
  }));
}

function toItems({ reply, id }: Rendering): Item[] {
  const items = reply.toolCalls.map((call, i) => toFunctionCall(call, `fc_${id}${i}`));
  if (reply.text !== '' || reply.refusal !== undefined || items.length === 0) {
    items.unshift(toMessage(reply, `msg_${id}`));
  }
  if (reply.reasoning) items.unshift(toReasoning(reply, `rs_${id}`));
  return items;
}

function toMessage(reply: Reply, id: string): Item {
  const refused = reply.refusal !== undefined;
  const kind = refused ? 'refusal' : 'output_text';
  const text = reply.refusal ?? reply.text;
  const part = (value: string): JsonObject =>
    refused
      ? { type: kind, refusal: value }
      : { type: kind, text: value, annotations: [], logprobs: [] };
  const item = (status: string, content: JsonObject[]): JsonObject => ({
    id,
    type: 'message',
    status,
    role: 'assistant',
    content,
  });
  const extra = refused ? {} : { logprobs: [] };
  return {
    value: item('completed', [part(text)]),
    events(index) {
      const at = { item_id: id, output_index: index, content_index: 0 };
      return [
        { type: 'response.output_item.added', output_index: index, item: item('in_progress', []) },
        { type: 'response.content_part.added', ...at, part: part('') },
        ...(refused ? reply.refusalChunks : reply.textChunks).map((delta) => ({
          type: `response.${kind}.delta`,
          ...at,
          delta,
          ...extra,
        })),
        { type: `response.${kind}.done`, ...at, [refused ? 'refusal' : 'text']: text, ...extra },
        { type: 'response.content_part.done', ...at, part: part(text) },
        { type: 'response.output_item.done', output_index: index, item: this.value },
      ];
    },
  };
}

function toReasoning(reply: Reply, id: string): Item {
  const part = (text: string): JsonObject => ({ type: 'summary_text', text });
  return {
    value: { id, type: 'reasoning', summary: [part(reply.reasoning)] },
    events(index) {
      const at = { item_id: id, output_index: index, summary_index: 0 };
      return [
        {
          type: 'response.output_item.added',
          output_index: index,
          item: { id, type: 'reasoning', summary: [] },
        },
        { type: 'response.reasoning_summary_part.added', ...at, part: part('') },
        ...reply.reasoningChunks.map((delta) => ({
          type: 'response.reasoning_summary_text.delta',
          ...at,
          delta,
        })),
        { type: 'response.reasoning_summary_text.done', ...at, text: reply.reasoning },
        { type: 'response.reasoning_summary_part.done', ...at, part: part(reply.reasoning) },
        { type: 'response.output_item.done', output_index: index, item: this.value },
      ];
    },
  };
}

function toFunctionCall(call: ReplyToolCall, id: string): Item {
  const item = (status: string, text: string): JsonObject => ({
    id,
    type: 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    arguments: text,
  });
  return {
    value: item('completed', call.arguments),
    events(index) {
      const at = { item_id: id, output_index: index };
      return [
        { type: 'response.output_item.added', output_index: index, item: item('in_progress', '') },
        ...call.chunks.map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...at,
          delta,
        })),
        {
          type: 'response.function_call_arguments.done',
          ...at,
          name: call.name,
          arguments: call.arguments,
        },
        { type: 'response.output_item.done', output_index: index, item: this.value },
      ];
    },
  };
}

function toResponse(
  { request, reply, id, created }: Rendering,
  items: Item[],
  status: Status,
): JsonObject {
  const { body } = request;
  const reason = reply.finish === 'length' ? 'max_output_tokens' : reply.finish;
  return {
    id: responseId(id),
    object: 'response',
    created_at: created,
    status,
    background: body.background === true,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model: request.model,
    output: items.map(({ value }) => value),
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    usage: status === 'in_progress' || !reply.usage ? null : toResponsesUsage(reply.usage),
    metadata: body.metadata ?? {},
  };
}

function finalStatus({ finish }: Reply): Status {
  return finish === 'stop' || finish === 'tool_calls' ? 'completed' : 'incomplete';
}

function toResponsesUsage(usage: ReplyUsage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
